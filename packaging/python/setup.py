"""The wheel of capgate. scripts/wheel puts the programs and the modules beside this file first."""

from setuptools import setup
from setuptools.dist import Distribution

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70
    from wheel.bdist_wheel import bdist_wheel


class Programs(Distribution):
    """Machine code, although no Python extension: it belongs where a platform's packages go."""

    def has_ext_modules(self):
        return True


class AnyPython(bdist_wheel):
    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(distclass=Programs, cmdclass={"bdist_wheel": AnyPython})
