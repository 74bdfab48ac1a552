"""Schemas of operators: parsed, printed, compared, refused."""

from __future__ import annotations

_TEXTS = """
any.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
foo(Tensor self, int a = 2, float b=1.5, str? o="NC\\"HW", int[2] c=1) -> int
foo(int[2] a=[1,2], int[3]? b=None, float[] c=[1,2.5], bool d=False) -> ()
x::foo(Tensor(a!)[]? x, Tensor?[] y, SymInt[] z, (int, Tensor) t, ...) -> ()
foo(Dict(str, Tensor) d, Dict(str, int[]) e) -> (t, Tensor[] o)
foo(int[3] s, Tensor(a->*) x, Device? d=None, float i=1) -> Tensor(a)[]
foo(ScalarType x=float, Layout? l=strided) -> Tensor(b|c) y
foo(MemoryFormat m=contiguous_format, ScalarType t=6, Generator? g=None) -> ()
foo(float e=1e-05, float q=1e20, float h=100.0, float z=-0.5, int i=-3) -> ()
foo(Tensor(a! -> a|b) x, Tensor(a0!)[] y) -> Tensor?
foo(Stream s, any? a, t x, Any b, Storage st, NoneType n) -> (int a, int)
foo(None x) -> None
foo(*, int a, SymInt? b=3, Scalar s=2) -> ...
foo(int64_t a) -> Tensor
foo(double a) -> Tensor
foo(asdf a) -> Tensor
foo(Tensor a) -> asdfasdf
foo.default(Tensor a) -> int
foo
foo(Tensor)
foo(Tensor a=1) -> int
foo(Tensor a) -> Tensor more
foo(int arg1, int arg2=0, ...)
(
""".strip().splitlines()

_PAIRS = """
a(int? a)->Tensor | a(int a)->Tensor
a(int a)->Tensor | a(int? a)->Tensor
a(int a)->Tensor | a(int a)->Tensor?
a(int a)->Tensor? | a(int a)->Tensor
b(int a)->Tensor | a(int a)->Tensor
a.x(int a)->Tensor | a(int a)->Tensor
a(int a, ...)->Tensor | a(int a)->Tensor
a(int a)->(Tensor,int) | a(int a)->Tensor
a(int a, int b)->Tensor | a(int a)->Tensor
a(int a)->Tensor | a(int a, int b)->Tensor
a(int a)->Tensor | a(int a, int b=1)->Tensor
a(int a, int b=4)->Tensor | a(int a, int b=1)->Tensor
a(int a, int b)->Tensor | a(int a, int b=1)->Tensor
a(*, int a)->Tensor | a(int a)->Tensor
a(int a)->Tensor | a(*, int a)->Tensor
a(int a, *, Tensor(a!) o)->() | a(int a, *, Tensor(b!) p)->()
a(*, Tensor(a!) o)->() | a(*, Tensor(a!) o, Tensor(b!) b)->()
a(*, Tensor(a!) o, Tensor(b!) b)->() | a(*, Tensor(a!) o)->()
a(int a=1, *, Tensor(a!) o)->() | a(*, Tensor(a!) o)->()
a(float a)->Tensor | a(int a)->Tensor
a(Scalar a)->Tensor | a(int a)->Tensor
a(Any a)->Tensor | a(int a)->Tensor
a(int[] a)->Tensor | a(int[2] a)->Tensor
a(Tensor(a) a)->Tensor | a(Tensor a)->Tensor
a(int a, int[] b=[])->Tensor | a(int a)->Tensor
a(int a, Tensor? b=None)->Tensor | a(int a)->Tensor
a(SymInt a)->Tensor | a(int a)->Tensor
a(Tensor?[] a)->Tensor | a(Tensor[] a)->Tensor
""".strip().splitlines()


def _described(argument):
    alias = argument.alias_info
    return [
        argument.name,
        str(argument.type),
        argument.type.str(),
        type(argument.type).__name__,
        repr(argument.default_value),
        argument.has_default_value(),
        argument.kwarg_only,
        argument.is_out,
        argument.N,
        alias and [alias.is_write, sorted(alias.before_set), sorted(alias.after_set)],
    ]


def _parsed(text: str):
    def case(lib):
        schema = lib._C.parse_schema(text)
        again = lib._C.parse_schema(str(schema))
        rows = map(_described, [*schema.arguments, *schema.returns])
        # PyTorch's Python has no classes for variables of types and storages.
        known = [
            [*row[:3], None, *row[4:]]
            if row[3] in ("Type", "VarType", "StorageType")
            else row
            for row in rows
        ]
        return [
            # Sets stand in no order there.
            str(schema).replace("c|b", "b|c").replace("b|a", "a|b"),
            [schema.name, schema.overload_name, schema.is_mutable],
            again == schema,
            known,
        ]

    return case


def _compared(text: str):
    def case(lib):
        new, old = map(lib._C.parse_schema, text.split(" | "))
        return [
            new == old,
            new.is_backward_compatible_with(old),
            list(new.check_forward_compatible_with(old)),
        ]

    return case


CASES = {
    **{text: _parsed(text) for text in _TEXTS},
    **{text: _compared(text) for text in _PAIRS},
}
