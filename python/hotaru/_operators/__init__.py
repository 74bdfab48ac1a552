"""Tables of known operators: kernels by dispatch key, arguments, tags.

`table` has those that programs define in Python, `own` those they define in
C++; `dispatch` goes through the layers of one. How programs define them is
`_library`.
"""
