# ruff: noqa: E501  (a case is one line)
"""Cases of data pipes: what they give, in which order, their errors."""

from __future__ import annotations

from core_scope import case

_NAMES = """
import operator, random, warnings; from functools import partial
import io
data = torch.utils.data
import_module = __import__("importlib").import_module
pipes = import_module(torch.__name__ + ".utils.data.datapipes")
graph = import_module(torch.__name__ + ".utils.data.graph")
settings = import_module(torch.__name__ + ".utils.data.graph_settings")
common = import_module(torch.__name__ + ".utils.data.datapipes.utils.common")
sharding = import_module(torch.__name__ + ".utils.data.datapipes.iter.sharding")
of = pipes.iter.IterableWrapper
seq = pipes.map.SequenceWrapper
double = partial(operator.mul, 2)
odd = partial(operator.and_, 1)
p = of(range(7))
"""

_ITER = r"""
list(p), list(p), len(p), repr(p), str(p.map(double))
list(p.map(double)), len(p.map(double))
list(of([(1, 2), (3, 4)]).map(double, input_col=1))
list(of([(1, 2), (3, 4)]).map(operator.add, input_col=[0, 1]))
list(of([(1, 2, 3), (3, 4, 5)]).map(operator.add, input_col=[2, 0]))
list(of([(1, 2), (3, 4)]).map(operator.add, input_col=[0, 1], output_col=-1))
list(of([[1, 2], [3, 4]]).map(double, input_col=1, output_col=0))
list(of([{"a": 1, "b": 2}]).map(operator.add, input_col=["a", "b"], output_col="c"))
list(of([{"a": 1, "b": 2}]).map(operator.add, input_col=["a", "b"]))
p.map(double, output_col=1)
p.map(double, input_col=0, output_col=[1, 2])
p.map(operator.add, input_col=[0, 1, 2])
p.map(3)
p.map(lambda x: x)
list(p.map(lambda: 3))
def f(a, *, k): return a\nr = p.map(f)
def f(a, b=1): return a\nr = list(p.map(f))
def f(a, b): return a\nr = list(p.map(f))
list(p.filter(partial(operator.lt, 3)))
list(of([(1, 2), (3, 4)]).filter(partial(operator.lt, 2), input_col=1))
list(p.filter(double))
len(p.filter(bool))
list(p.batch(3)), len(p.batch(3)), type(next(iter(p.batch(3)))).__name__
list(p.batch(3, drop_last=True)), len(p.batch(3, drop_last=True))
list(p.batch(3, wrapper_class=tuple))
p.batch(0)
list(p.batch(2).batch(2)), list(p.batch(2).batch(2).unbatch()), list(p.batch(2).batch(2).unbatch(2)), list(p.batch(2).batch(2).unbatch(-1))
list(p.batch(2).unbatch(2))
list(p.batch(2).unbatch(-2))
list(p.batch(2).unbatch(0))
list(p.groupby(odd))
list(p.groupby(odd, keep_key=True, group_size=2))
list(p.groupby(odd, buffer_size=3, group_size=3, guaranteed_group_size=2))
list(p.groupby(partial(operator.mod, 12), buffer_size=3, group_size=3))
list(p.groupby(partial(operator.mod, 12), buffer_size=3, group_size=3, drop_remaining=True))
p.groupby(odd, buffer_size=3, group_size=4)
p.groupby(odd, guaranteed_group_size=2)
list(p.concat(of("ab"))), len(p.concat(of("ab")))
p.concat([1])
pipes.iter.Concater()
list(p.zip(of("abc"), of("wxyz"))), len(p.zip(of("abc")))
p.zip([1])
list(p.mux(of("abc"), of("wxyz"))), len(p.mux(of("abc")))
list(p.collate())[:3]
list(of([[1, 2], [3.0, 4]]).collate())
list(p.batch(3).collate())
list(p.batch(3).collate(collate_fn=sum))
list(pipes.iter.Sampler(p)), list(pipes.iter.Sampler(p, sampler=data.SequentialSampler)), len(pipes.iter.Sampler(p))
torch.manual_seed(3); list(p.shuffle())
torch.manual_seed(3); list(p.shuffle(buffer_size=3)), len(p.shuffle())
s = p.shuffle(); [list(s.set_seed(5)), list(s.set_seed(5)), list(s.set_shuffle(False))]
torch.manual_seed(1); list(p.batch(2).shuffle(unbatch_level=1))
p.shuffle(buffer_size=0)
s = p.sharding_filter(); s.apply_sharding(3, 1); (list(s), len(s), s.num_of_instances, s.instance_id)
s = p.sharding_filter(); s.apply_sharding(3, 3)
g = sharding.SHARDING_PRIORITIES; s = of(range(20)).sharding_filter(); s.apply_sharding(2, 1, g.DISTRIBUTED); s.apply_sharding(3, 2, g.MULTIPROCESSING); (list(s), len(s))
g = sharding.SHARDING_PRIORITIES; s = p.sharding_filter(); s.apply_sharding(2, 1); s.apply_sharding(3, 2, g.MULTIPROCESSING)
g = sharding.SHARDING_PRIORITIES; s = p.sharding_filter(); s.apply_sharding(2, 1, g.DISTRIBUTED); s.apply_sharding(3, 2)
len(of(iter([1])))
list(of(x for x in range(3)))
[1, 2, p][2].no_such
data.DataChunk([1, 2]), data.DataChunk([1, 2]).as_str("  "), list(data.DataChunk([1, 2]).raw_iterator())
"""

_FORKS = r"""
a, b = p.fork(2); (list(a), list(b), len(a))
a, b, c = p.fork(3); list(a.zip(b, c))
a, b = p.fork(2); (list(a), list(a), list(b), list(b))
a, b = p.fork(2); i = iter(a); next(i); j = iter(b); (next(j), next(i), list(j), list(i))
a, b = p.fork(2, buffer_size=3); (list(b.zip(a)))
a, b = p.fork(2, buffer_size=3); list(a)
a, b = p.fork(2, buffer_size=-1); list(a)
a, b = p.fork(2); i = iter(a); next(i); j = iter(a); (next(j), next(i))
a, b = p.fork(2); i = iter(a); next(i); j = iter(b); next(j); iter(a); next(j)
p.fork(0)
p.fork(1) is p
l = [[1]]; a, b = of(l, deepcopy=False).fork(2); x, y = next(iter(a)), next(iter(b)); (x is y, x is l[0])
l = [[1]]; a, b = of(l, deepcopy=False).fork(2, copy="shallow"); x, y = next(iter(a)), next(iter(b)); (x is y, x == y)
p.fork(2, copy="x")
a, b = p.demux(2, odd); (list(a), list(b), list(a))
a, b = p.demux(2, odd); list(a.zip(b))
a, b = p.demux(2, odd, buffer_size=1); list(b)
a, b = p.demux(2, odd, buffer_size=2); list(b)
a, b = p.demux(2, double); list(b)
a, b = p.demux(2, {0: None, 1: 1, 2: 0}.get, drop_none=True); (list(a), list(b))
a, b = p.demux(2, {0: None, 1: 1, 2: 0}.get); (list(a), list(b))
p.demux(0, odd)
"""

_RULE = r"""
i = iter(p); next(i); j = iter(p); next(j)
i = iter(p); next(i); j = iter(p); next(j); next(i)
m = p.map(double); i = iter(m); next(i); j = iter(m); next(j); next(i)
i = iter(p.map(double)); next(i); list(p); next(i)
i = iter(p); next(i); next(i); p._number_of_samples_yielded
list(p.map(partial(operator.truediv, 1)))
list(p.zip(p))
class P(data.IterDataPipe):\n    def __init__(self): self.at = 0\n    def __iter__(self): return self\n    def __next__(self): self.at += 1; return self.at\n    def reset(self): self.at = 0\nq = P(); i = iter(q); r = [next(i), next(i), next(iter(q)), q._number_of_samples_yielded]
class P(data.IterDataPipe):\n    def __init__(self, n): self.n = n\n    def __iter__(self): return iter(range(self.n))\nq = P(4); i = iter(q); next(i); j = iter(q); r = [next(j), next(i)]
class P(data.IterDataPipe):\n    def __init__(self, n): self.n = n\n    def __iter__(self):\n        yield 1\n        raise KeyError\nr = list(P(3))
class P(data.IterDataPipe):\n    def __init__(self, n): self.n = n\n    def __iter__(self):\n        yield 1\n        raise ValueError("why")\nr = list(P(3).map(double))
"""

_MAPS = r"""
m = seq(range(7)); (list(m), m[2], len(m))
m = seq({"a": 1, "b": 2}); (m["a"], len(m))
m = seq(range(7)).map(double); (m[3], len(m), list(m))
seq(range(3)).map(3)
m = seq("abc").concat(seq("de")); (list(m), len(m), m[3])
seq("abc").concat(seq("de"))[5]
m = seq("abc").zip(seq("de")); (m[1], len(m))
seq("abc").zip(seq("de"))[2]
pipes.map.Zipper()
pipes.map.Concater(3)
m = seq(range(7)).batch(3); ([m[i] for i in range(3)], len(m))
seq(range(7)).batch(3, drop_last=True)[2]
seq(range(6)).batch(3)[2]
torch.manual_seed(3); s = seq(range(7)).shuffle(); (list(s), list(s), len(s))
s = seq("abc").shuffle(); (list(s.set_seed(1)), list(s.set_seed(1)), list(s.set_shuffle(False)))
seq([1]).no_such
"""

_GRAPHS = r"""
m = p.shuffle().map(double); g = graph.traverse_dps(m); [repr(q) for q in settings.get_all_graph_pipes(g)]
a, b = p.fork(2); m = a.map(double).zip(b.filter(bool)); [type(q).__name__ for q in settings.get_all_graph_pipes(graph.traverse_dps(m))][:3]
graph.traverse_dps(3)
m = seq("ab").map(str); of(m); len(settings.get_all_graph_pipes(graph.traverse_dps(of(m))))
m = settings.apply_shuffle_settings(p.map(double), True); repr(m)
m = settings.apply_shuffle_settings(p.shuffle().map(double), False); list(m)
m = settings.apply_random_seed(p.shuffle(), torch.Generator().manual_seed(4)); list(m)
m = settings.apply_sharding(p.sharding_filter().map(double), 3, 1); list(m)
m = settings.apply_sharding(p.sharding_filter().map(double).sharding_filter(), 3, 1); list(m)
@data.functional_datapipe("triple")\nclass Triple(data.IterDataPipe):\n    def __init__(self, source): self.source = source\n    def __iter__(self):\n        for x in self.source: yield 3 * x\nr = [list(p.triple()), data.IterDataPipe.functions.pop("triple") and 1]
data.functional_datapipe("map")(pipes.iter.Mapper)
q = copy.deepcopy(p.map(double)); list(q)
q = pickle.loads(pickle.dumps(p.map(double).batch(2))); list(q)
a, b = pickle.loads(pickle.dumps(p.fork(2))); (list(a), list(b))
s = p.shuffle().set_seed(3); list(pickle.loads(pickle.dumps(s)))
"""

_LOADER = r"""
torch.manual_seed(3); list(data.DataLoader(of(range(9)).shuffle(), batch_size=4))
torch.manual_seed(3); l = data.DataLoader(of(range(9)).shuffle(), batch_size=4, shuffle=False); (list(l), list(l))
torch.manual_seed(3); list(data.DataLoader(of(range(9)).shuffle(), batch_size=2, generator=torch.Generator().manual_seed(1)))
torch.manual_seed(3); list(data.DataLoader(seq(range(9)), batch_size=4, shuffle=True))
list(data.DataLoader(p.batch(2), batch_size=None))
"""

_FILES = r"""
f = io.StringIO("abc"); w = common.StreamWrapper(f); r = [w.read(), repr(common.StreamWrapper(3, name="n")), w.closed]; w.close(); r + [w.closed, f.closed]
f = common.StreamWrapper(io.StringIO("abc")); c = common.StreamWrapper(io.StringIO(), f); f.autoclose(); r = f.closed; c.close(); (r, f.closed)
f = common.StreamWrapper(io.StringIO("a\nb")); list(f), next(common.StreamWrapper(iter([4])))
f = common.StreamWrapper(io.StringIO()); common.StreamWrapper.close_streams({"a": [(f,)]}); f.closed
list(pipes.iter.StreamReader(of([("n", io.StringIO("abcde"))], deepcopy=False), chunk=2))
list(pipes.iter.StreamReader(of([("n", io.StringIO("abcde"))], deepcopy=False)))
pipes.iter.FileOpener(p, mode="w")
pipes.iter.FileOpener(p, mode="b", encoding="utf-8")
list(pipes.iter.FileOpener(p))
len(pipes.iter.FileLister("."))
len(pipes.iter.FileLister(".", length=4))
common.match_masks("a.txt", ""), common.match_masks("a.txt", "*.py"), common.match_masks("a.txt", ["*.py", "a*"])
common.validate_pathname_binary_tuple(3)
common.validate_pathname_binary_tuple((1, 2, 3))
common.validate_pathname_binary_tuple((1, 2))
common.validate_pathname_binary_tuple(("a", 2))
"""

_ALL = _ITER + _FORKS + _RULE + _MAPS + _GRAPHS + _LOADER + _FILES


def _code(line: str):
    # "\n" between statements; in strings it stays what it is.
    compound = line.startswith(("def ", "class ", "@"))
    return case(_NAMES + (line.replace("\\n", "\n") if compound else line))


CASES = {line: _code(line) for line in _ALL.split("\n") if line}
