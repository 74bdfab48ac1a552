# ruff: noqa: E501  (a case is one line)
"""Cases of graphs that Python reads: their text, nodes, values and types."""

from __future__ import annotations

from core_scope import case

_GRAPHS = r"""
str(G)
G.str(False)
str(G.copy())
[n.kind() for n in G.nodes()]
[n.schema() for n in G.nodes()]
[[n.inputsSize(), n.outputsSize(), n.hasMultipleOutputs()] for n in G.nodes()]
[[(a, n.kindOf(a)) for a in n.attributeNames()] for n in G.nodes()]
[v.debugName() for v in G.inputs()]
[v.type().str() for v in G.inputs()]
[str(v.type()) for v in G.inputs()]
[v.debugName() for v in G.outputs()]
[[u.user.kind(), u.offset] for v in G.inputs() for u in v.uses()]
[str(G.return_node()), str(G.param_node()), G.findNode("a::b")]
[G.findNode("prim::Constant").i("value"), G.findNode("prim::Constant").output().toIValue()]
[n.kind() for n in G.findAllNodes("aten::mul", True)]
G.findNode("mul")
G.findNode("foo::bar").s("nothing")
G.findNode("foo::bar").f("alpha")
G.findNode("foo::bar").output()
G.findNode("aten::add").output().node().kind()
G.findNode("aten::add").namedInput("other").debugName()
[[b for b in map(len, map(list, map(lambda b: b.nodes(), n.blocks())))] for n in I.nodes()]
str(I)
[n.kind() for n in I.findAllNodes("aten::relu", True)]
[n.kind() for n in I.findAllNodes("aten::relu", False)]
str(next(I.findNode("prim::If").blocks()).returnNode())
torch._C._jit_pass_lint(I)
str(torch._C._jit_pass_canonicalize(I))
str(torch._C.parse_ir("graph(%a):\n  %b = foo::x(%a) # why\n  return (%b)"))
torch._C.parse_ir("graph(%a):\n  %b = foo::x(%z)\n  return (%b)") and None
V = next(G.inputs()).type(); [V.sizes(), V.strides(), V.scalarType(), V.dim(), str(V.dtype()), str(V.device()), V.requires_grad()]
V = next(G.inputs()).type().with_sizes([1, 2]); V.str()
g = torch._C.Graph(); a = g.addInput("a"); n = g.create("foo::y", [a]); g.appendNode(n); g.registerOutput(n.output()); str(g)
g = G.copy(); n = g.findNode("aten::mul"); n.replaceInputWith(n.inputsAt(1), n.inputsAt(0)); str(n)
g = G.copy(); n = g.findNode("aten::mul"); n.destroy(); [n.kind() for n in g.nodes()]
g = G.copy(); n = g.findNode("aten::mul"); n.moveBefore(g.findNode("prim::Constant")); [n.kind() for n in g.nodes()]
g = G.copy(); n = g.findNode("foo::bar"); n.s_("name", "q").i_("k", 3); [n.s("name"), n.i("k"), n.hasAttribute("k")]
g = G.copy(); n = g.findNode("aten::add"); n.output().replaceAllUsesWith(n.inputsAt(1)); str(g)
"""
_SCHEMAS = r"""
[s.name, s.overload_name, s.is_mutable, len(s.returns)]
[[a.name, str(a.type), str(a.real_type), a.N] for a in s.arguments]
[[a.has_default_value(), a.default_value, a.kwarg_only] for a in s.arguments]
[[a.is_write, a.is_out, a.alias_info is None] for a in s.arguments]
[[a.name, str(a.type)] for a in s.returns]
s == T.parse_schema(str(s))
"""
_TYPES = r"""
T.ListType(T.IntType.get())
T.ListType(T.OptionalType(T.TensorType.get()))
T.OptionalType(T.OptionalType(T.IntType.get()))
T.TupleType([T.IntType.get(), T.FloatType.get()])
T.TupleType([])
T.DictType(T.StringType.get(), T.ListType(T.BoolType.get()))
T.UnionType([T.IntType.get(), T.StringType.get()])
T.FutureType(T.ComplexType.get())
T.NoneType.get()
T.AnyType.get()
T.NumberType.get()
T.DeviceObjType.get()
T.PyObjectType.get()
T.TensorType.get()
"""
_BELOW = r"""
[T.IntType.get(), T.NumberType.get()]
[T.NumberType.get(), T.IntType.get()]
[T.NoneType.get(), T.OptionalType(T.IntType.get())]
[T.IntType.get(), T.OptionalType(T.IntType.get())]
[T.OptionalType(T.IntType.get()), T.IntType.get()]
[T.ListType(T.IntType.get()), T.AnyType.get()]
[T.ListType(T.IntType.get()), T.ListType(T.NumberType.get())]
[T.TupleType([T.IntType.get()]), T.TupleType([T.NumberType.get()])]
[T.StringType.get(), T.UnionType([T.IntType.get(), T.StringType.get()])]
"""
_BEFORE = r'''
T = torch._C
G = T.parse_ir("""graph(%a : Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu), %b : Tensor, %c.1 : int[]):
  %1 : int = prim::Constant[value=1]() # foo.py:3:2
  %q : Float(*, 3) = aten::add(%a, %b, %1)
  %r : Double(*, *, requires_grad=1, device=cpu) = aten::mul(%a, %b)
  %s, %t : (Tensor, int) = foo::bar[alpha=0.5, name="a\\"c", l=[1, 2], m=["a", "b"], z=[0.5, 1.]](%q)
  return (%q, %s)
""")
I = T.parse_ir("""graph(%x : Tensor, %n : int, %c : bool):
  %t : bool = prim::Constant[value=1]()
  %y : Tensor = prim::Loop(%n, %t, %x)
    block0(%i : int, %z : Tensor):
      %w : Tensor = prim::If(%c)
        block0():
          %v : Tensor = aten::relu(%z)
          -> (%v)
        block1():
          -> (%z)
      -> (%t, %w)
  return (%y)
""")
'''


def _lines(text: str):
    return (line for line in text.split("\n") if line)


CASES = {line: case(_BEFORE + line) for line in _lines(_GRAPHS)}
for _line in _lines(_SCHEMAS):
    CASES[_line] = case(
        "T = torch._C; s = T.parse_schema('aten::foo.x(Tensor(a!) a, int[2] b=[1, 2], "
        'ScalarType? t=None, *, bool c=True, str d="q", float e=1, Tensor(b!) out)'
        " -> (Tensor(a!) q, int)')\n" + _line
    )
for _line in _lines(_TYPES):
    CASES[_line] = case(
        f"T = torch._C; t = {_line}\n"
        "[str(t), t.annotation_str, t.str(), t.kind(),"
        " list(map(str, t.containedTypes()))]"
    )
for _line in _lines(_BELOW):
    CASES[f"below {_line}"] = case(
        f"T = torch._C; a, b = {_line}\n[a.isSubtypeOf(b), a == b, a == a]"
    )
