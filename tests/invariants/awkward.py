"""Code in the shapes that two readers are most likely to count differently."""

from __future__ import annotations

AWKWARD = {
    "decorators": """\
@f(a())
@g
def h(x=i(), *a: j(), y=k(), **z: l()) -> m():
    n()
    @o()
    class p(q(), r=s()): t()
""",
    "comprehensions": """\
x = [a(b) for b in c() if d(e() for f in g())]
y = {h(): i() for j in k() for l in m()}
""",
    "lambdas": """\
f = lambda x=a(), *y, z=b(): c(lambda: d())
g(key=lambda: e())
""",
    "lambdas of comprehensions": """\
f = lambda: [a() for b in c()]
d(lambda x: {e(): f() for y in g()}, lambda: h())
i()
""",
    "semicolons": """\
a(); b = c(); d()
if e(): f(); g()
for h in i(): j(); k = l()
""",
    "branches": """\
if a():
    b()
elif c():
    d()
elif e(): f()
else:
    g()
""",
    "tries": """\
try: a()
except b() as c:
    d()
except (e(), f()): g()
else: h()
finally: i()
""",
    "with": """\
with a() as b(c()).d, e(): f()
with (g() as h, i()):
    j()
""",
    "match": """\
match a(b()):
    case C(d=1) if e():
        f()
    case [g, *h]: i()
""",
    "calls": """\
a(b)(c(), *d(), e=f(), *g(), **h())[i()].j(k())
l(m() if n() else o())
""",
    "chained": """\
a = b[c()] = d().e = f()
g: h() = i()
j[k()] += l()
m: n()
""",
    "strings": """\
x = f'{a()} {b():{c()}}' f'{d()!r}'
""",
    "neighbours of strings": """\
x = 'a' f'{b()}' "c" f'{d():>{e()}} {f()=}'
g(h() and i() and (j() and k()) and l() or m() or n())
""",
    "one of a tuple": """\
a[b(),] = c[d(), e():f()] + g[(h(), i())]
del j()[0], k()[1]
del (l()[2], m()[3])
for n, *o in (p(), *q()): r()
""",
    "walrus": """\
if (a := b()) and [c := d() for e in f()]: g()
""",
    "async": """\
async def a(b=c()):
    async with d() as e:
        async for f in g(): await h()
    return [i() async for j in k()]
""",
    "continued": """\
a = b() \\
    + c()
if d() and \\
        e():
    f()
""",
    "star arguments": """\
f(a=b(), *c(), **d(), e=g())
""",
    "slices": """\
a[b():c(), d():e():f()] = g()
del h()[i()]
assert j(), k()
raise l() from m()
""",
    "global": """\
def a():
    global b
    b = c()
    def d():
        nonlocal_ = e()
        return nonlocal_
""",
    "dictionary": """\
x = {**a(), b(): c(), **d(), e(): f()}
""",
    "comparison": """\
a() < b() <= c() in d() is not e() and not f() or g()
""",
    "while": """\
while a():
    b()
else:
    c()
return_ = (yield_ := d())
""",
    "class bodies": """\
class A(*b(), metaclass=c()):
    d = e()
    def f(self, g=h()): return i()
    j = [k() for l in m()]
""",
}
