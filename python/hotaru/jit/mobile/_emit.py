"""Instructions of PyTorch's interpreter for mobile devices.

A value lives in a register, operands on a stack: LOAD copies a register onto it, MOVE
takes its last use, STORE takes from it. Jumps count from the instruction that they
stand in. Programs are written as one function; what they call stands in the call's
place.
"""

from __future__ import annotations

from ..._function_schema import parse_schema
from .._ir.values import Value
from ._body import DROP, Body, Program, Step
from ._operator_names import SAME, name_of

# Operators that are instructions of their own.
_INSTRUCTIONS = {
    "aten::__is__": "__IS__",
    "aten::__isnot__": "__ISNOT__",
    "aten::__not__": "__NOT__",
    "aten::dim": "DIM",
    "prim::dtype": "DTYPE",
    "prim::device": "DEVICE",
    "prim::is_cuda": "IS_CUDA",
    "prim::TupleIndex": "TUPLE_INDEX",
    "prim::RaiseException": "RAISE_EXCEPTION",
    "prim::Uninitialized": "UN_INITIALIZED",
}
_VARIADIC = ("prim::Print", "aten::format")
_ELEMENTS = {"int": 0, "float": 1, "complex": 2, "bool": 3}
# Numbers of dtypes that methods convert to.
_DTYPES = {
    "byte": 0,
    "char": 1,
    "short": 2,
    "int": 3,
    "long": 4,
    "half": 5,
    "float": 6,
    "double": 7,
    "cfloat": 9,
    "cdouble": 10,
    "bool": 11,
    "bfloat16": 15,
}
_ROW = tuple[str, int, int]


class Function:
    """Instructions of a method, and the tables that they point into.

    Attributes:
        instructions: rows of name, X and N.
        operators: rows of name, overload and the number of arguments, -1 for any.
        constants: values, also tensors.
        types: texts of types.
        register_size: registers in all; the first is 1.
        interfaces: True if a method is called by its name alone.
    """

    def __init__(self, method, called: dict[int, object], attributes, types) -> None:
        """Emits a method.

        Args:
            method: its graph, inlined as far as graphs are.
            called: graphs of functions that stay calls there, by number.
            attributes: gives the place of an attribute: `(class name, name)`.
            types: gives the text that a type has in the file.

        NotImplementedError: the interpreter has nothing for a step of it.
        """
        self.instructions: list[_ROW] = []
        self.operators: list[tuple[str, str, int]] = []
        self.constants: list = []
        self.types: list[str] = []
        self.register_size = 0
        self.interfaces = False
        self._called, self._slot, self._type_text = called, attributes, types
        self._places: dict[int, int] = {}  # of values, in the function at hand
        self._used: dict[int, int] = {}
        self._program: Program | None = None
        self._made: dict[int, Step] = {}
        program = Program(method)
        self._function(program)
        self._put("RET")

    # --- parts ---

    def _put(self, name: str, x: int = 0, n: int = 0) -> int:
        self.instructions.append((name, x, n))
        return len(self.instructions) - 1

    def _land(self, at: int) -> None:
        """Lets the jump at that place end here."""
        name, _, n = self.instructions[at]
        self.instructions[at] = (name, len(self.instructions) - at, n)

    def _constant(self, value) -> int:
        self.constants.append(value)
        return len(self.constants) - 1

    def _type(self, type) -> int:
        self.types.append(self._type_text(type))
        return len(self.types) - 1

    def _store(self, values: list[Value]) -> None:
        first = self.register_size + 1
        for value in values:
            self.register_size += 1
            self._places[id(value)] = self.register_size
        if len(values) == 1:
            self._put("STORE", first)
        elif values:
            self._put("STOREN", first, len(values))

    def _load(self, value: Value, drop: bool = False) -> None:
        step = self._made.get(id(value))
        if step is not None and step in self._program.inline:
            self._step(step)
            if drop:
                self._put("DROP")
            return
        key = id(value)
        self._used[key] = self._used.get(key, 0) + 1
        last = self._used[key] == self._program.uses[key]
        if value.node().kind() == "prim::Constant":
            if not drop:
                self._put("LOADC", self._places[key])
        elif drop:
            self._put("DROPR", self._places[key])
        else:
            self._put("MOVE" if last else "LOAD", self._places[key])

    def _loads(self, values) -> None:
        for value in values:
            self._load(value)

    # --- bodies ---

    def _function(self, program: Program) -> None:
        self._program = program
        self._body(program.body)

    def _body(self, body: Body) -> None:
        for step in body.steps:
            for value in step.outputs:
                self._made[id(value)] = step
        self._store(body.params)
        for step in body.steps:
            if step.kind == "prim::Constant":
                value = step.outputs[0]
                self._places[id(value)] = self._constant(value.toIValue())
            elif step not in self._program.inline:
                self._step(step)
                self._store(step.outputs)
        self._loads(body.results)

    def _step(self, step: Step) -> None:
        form = _FORMS.get(step.kind)
        if form is not None:
            form(self, step)
        elif step.kind in _INSTRUCTIONS and len(step.outputs) < 2:
            self._loads(step.inputs)
            self._put(_INSTRUCTIONS[step.kind])
        else:
            self._operator(step)

    def _operator(self, step: Step) -> None:
        signature = step.node.schema()
        if signature == "(no schema)":
            raise NotImplementedError(
                f"_save_for_lite_interpreter: '{step.kind}' has no instruction in "
                "PyTorch's interpreter for mobile devices"
            )
        if signature.partition("(")[0] in SAME:
            self._loads(step.inputs)
            return
        if signature.partition("(")[0].endswith(".cast"):
            self._dtype_cast(step)
            return
        name, overload = name_of(signature, [v.type() for v in step.inputs])
        if name == "aten::__getitem__" and overload.startswith("Dict"):
            self._loads(step.inputs)
            self._put("DICT_INDEX")
        elif name == "prim::NumToTensor":
            self._loads(step.inputs)
            self._put("NUM_TO_TENSOR")
        else:
            count = _said(signature, step.inputs)
            self._loads(step.inputs[:count])
            self._call(name, overload, count)
        if (name, overload) == ("aten::_set_item", "t"):
            self._put("DROP")  # the list, which is its result there

    def _dtype_cast(self, step: Step) -> None:
        """The methods `long`, `float` and others: a conversion to that dtype."""
        self._loads(step.inputs)
        for value in (_DTYPES[step.kind.partition("::")[2]], False, False):
            self._put("LOADC", self._constant(value))
        self._call("aten::to", "prim_dtype", 4)

    def _call(self, name: str, overload: str, count: int) -> None:
        row = (name, overload, count)
        if row not in self.operators:
            self.operators.append(row)
        self._put("OP", self.operators.index(row))

    # --- forms ---

    def _variadic(self, step: Step) -> None:
        self._loads(step.inputs)
        if step.kind == "aten::format":
            self._put("FORMAT", len(step.inputs))
            return
        row = (step.kind, "", -1)
        if row not in self.operators:
            self.operators.append(row)
        self._put("OPN", self.operators.index(row), len(step.inputs))

    def _warn(self, step: Step) -> None:
        self._loads(step.inputs)
        self._put("WARN", -1)

    def _drop(self, step: Step) -> None:
        for value in step.inputs:
            self._load(value, drop=True)

    def _if(self, step: Step) -> None:
        self._loads(step.inputs)
        to_else = self._put("JF")
        self._body(step.bodies[0])
        to_end = self._put("JMP")
        self._land(to_else)
        self._body(step.bodies[1])
        self._land(to_end)

    def _loop(self, step: Step) -> None:
        self._put("LOADC", self._constant(0))
        self._loads(step.inputs)
        start = self._put("LOOP", 0, len(step.inputs))
        self._body(step.bodies[0])
        self._put("JMP", start - len(self.instructions))
        self._land(start)

    def _function_call(self, step: Step) -> None:
        self._loads(step.inputs[1:])
        self._in_place(self._called[step.node._callee])

    def _in_place(self, graph) -> None:
        """A called function's steps, with its arguments on the stack."""
        kept = self._program, self._places, self._used, self._made
        self._places, self._used, self._made = {}, {}, {}
        self._function(Program(graph))
        self._program, self._places, self._used, self._made = kept

    def _method_call(self, step: Step) -> None:
        self._loads(step.inputs)
        if step.node._callee:
            self._in_place(self._called[step.node._callee])
            return
        self.interfaces = True
        name = self._constant(step.node.s("name"))
        self._put("INTERFACE_CALL", name, len(step.inputs))

    def _list_unpack(self, step: Step) -> None:
        self._loads(step.inputs)
        self._put("LIST_UNPACK", len(step.outputs))

    def _tuple_unpack(self, step: Step) -> None:
        self._loads(step.inputs)
        self._call("prim::TupleUnpack", "", 1)

    def _cast(self, step: Step) -> None:
        source = self._made.get(id(step.inputs[0]))
        if source is not None and source.kind == "aten::tolist":
            self._to_list(source, step)
            return
        self._loads(step.inputs)
        self._call("prim::unchecked_cast", "", 1)

    def _to_list(self, source: Step, step: Step) -> None:
        """Reads numbers out of a tensor: their type and depth follow it."""
        if source not in self._program.inline:
            raise NotImplementedError(
                "_save_for_lite_interpreter: tolist() needs its type where it is "
                "called: x: List[int] = t.tolist()"
            )
        self._loads(source.inputs)
        element, depth = step.outputs[0].type(), 0
        while element.kind() == "ListType":
            element, depth = element.getElementType(), depth + 1
        for number in (depth, _ELEMENTS[element.annotation_str]):
            self._put("LOADC", self._constant(number))
        self._put("TO_LIST")

    def _tuple(self, step: Step) -> None:
        self._loads(step.inputs)
        made = step.outputs[0].type()
        if made.kind() == "TupleType":
            self._put("TUPLE_CONSTRUCT", len(step.inputs))
        else:
            self._put("NAMED_TUPLE_CONSTRUCT", self._type(made), len(step.inputs))

    def _list(self, step: Step) -> None:
        self._loads(step.inputs)
        place = self._type(step.outputs[0].type())
        self._put("LIST_CONSTRUCT", place, len(step.inputs))

    def _dict(self, step: Step) -> None:
        self._loads(step.inputs)
        place = self._type(step.outputs[0].type())
        self._put("DICT_CONSTRUCT", place, len(step.inputs))

    def _isinstance(self, step: Step) -> None:
        self._loads(step.inputs)
        types = step.node.tys("types")
        first = len(self.types)
        for type in types:
            self._type(type)
        self._put("ISINSTANCE", first, len(types))

    def _attribute(self, step: Step) -> None:
        self._loads(step.inputs)
        owner = step.inputs[0].type().annotation_str
        slot = self._slot(owner, step.node.s("name"))
        name = "GET_ATTR" if step.kind == "prim::GetAttr" else "SET_ATTR"
        self._put(name, slot)

    def _object(self, step: Step) -> None:
        name = step.outputs[0].type().annotation_str
        raise RuntimeError(
            "__torch__ types other than custom c++ classes (__torch__.torch.classes)"
            "are not supported in lite interpreter. Workaround: instead of using "
            "arbitrary class type (class Foo()), define a pytorch class (class "
            f"Foo(torch.nn.Module)). The problematic type is: {name}"
        )

    def _fork(self, step: Step) -> None:
        raise NotImplementedError(
            "_save_for_lite_interpreter: torch.jit.fork has no instruction in "
            "PyTorch's interpreter for mobile devices; call the function itself"
        )


_FORMS = {
    **dict.fromkeys(_VARIADIC, Function._variadic),
    DROP: Function._drop,
    "aten::warn": Function._warn,
    "prim::If": Function._if,
    "prim::Loop": Function._loop,
    "prim::CallFunction": Function._function_call,
    "prim::CallMethod": Function._method_call,
    "prim::ListUnpack": Function._list_unpack,
    "prim::TupleUnpack": Function._tuple_unpack,
    "prim::unchecked_cast": Function._cast,
    "prim::TupleConstruct": Function._tuple,
    "prim::ListConstruct": Function._list,
    "prim::DictConstruct": Function._dict,
    "prim::isinstance": Function._isinstance,
    "prim::GetAttr": Function._attribute,
    "prim::SetAttr": Function._attribute,
    "prim::CreateObject": Function._object,
    "prim::fork": Function._fork,
}


def _said(signature: str, inputs: list[Value]) -> int:
    """Counts inputs from the first up to the last that is no argument's default."""
    count = len(inputs)
    taken, arrow, _ = signature.rpartition(" -> ")
    if "=" not in taken:
        return count
    arguments = parse_schema(f"{taken}{arrow}()").arguments
    while count:
        argument = arguments[count - 1] if count <= len(arguments) else None
        value = inputs[count - 1]
        if argument is None or not argument.has_default_value():
            break
        if value.node().kind() != "prim::Constant":
            break
        default, given = argument.default_value, value.toIValue()
        if type(default) is not type(given) or default != given:
            break
        count -= 1
    return count
