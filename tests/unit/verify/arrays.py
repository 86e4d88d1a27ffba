"""Just enough of NumPy's array for capgate_verify: these tests run where there is none."""

import itertools
import math


class Kind:
    def __init__(self, name):
        self.name = name
        self.kind = {"float32": "f", "float64": "f", "int32": "i", "bool": "b"}[name]

    def __str__(self):
        return self.name

    def __eq__(self, other):
        return self.name == other.name


class Array:
    _addresses = itertools.count(1 << 20, 1 << 16)

    def __init__(self, values, dtype="float32"):
        self.values = list(values)
        self.dtype = Kind(dtype)
        self.__array_interface__ = {"data": (next(self._addresses), False)}

    @property
    def shape(self):
        return (len(self.values),)

    @property
    def nbytes(self):
        return 4 * len(self.values)

    def copy(self):
        return Array(self.values, str(self.dtype))

    def fill(self, value):
        self.values[:] = [value] * len(self.values)

    def ravel(self):
        return self

    def tolist(self):
        return [float(v) if self.dtype.kind == "f" and not math.isnan(v) else v for v in self.values]

    def __setitem__(self, key, value):
        assert key is Ellipsis
        self.values[:] = value.values
