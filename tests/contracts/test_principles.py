"""Every principle keeps the contract of its family."""

from __future__ import annotations

import inspect

import shoal
from contracts.principles import PrincipleContract
from shoal.principles.base import Principle


class TestEpsilonM(PrincipleContract):
    asked = shoal.EpsilonM(epsilon=1, m=2)


class TestRelativeEpsilonM(PrincipleContract):
    asked = shoal.EpsilonM(epsilon=0.3, m=2, relative=True)


class TestNeighbourhood(PrincipleContract):
    asked = shoal.Neighbourhood(below=1, above=2, m=2)


class TestDeltaL(PrincipleContract):
    asked = shoal.DeltaL(delta=0.5, l=2)


class TestWindow(PrincipleContract):
    asked = shoal.Window(width=1, m=2)


class TestChain(PrincipleContract):
    asked = shoal.Chain(epsilon=1, m=2)


class TestDissimilarity(PrincipleContract):
    asked = shoal.Dissimilarity(epsilon=1, delta=0.5, k=2, distance=shoal.Absolute())


class TestKAnonymity(PrincipleContract):
    asked = shoal.KAnonymity(k=3)


class TestKMap(PrincipleContract):
    asked = shoal.KMap(k=4)


class TestDeltaPresence(PrincipleContract):
    asked = shoal.DeltaPresence(low=0.1, high=0.8)


class TestFrequencyL(PrincipleContract):
    asked = shoal.FrequencyL(l=2)
    labels = True


class TestAlphaK(PrincipleContract):
    asked = shoal.AlphaK(alpha=0.5, k=2)
    labels = True


class TestMUniqueness(PrincipleContract):
    asked = shoal.MUniqueness(m=2)
    labels = True


class TestDistinctL(PrincipleContract):
    asked = shoal.DistinctL(l=3)
    labels = True


class TestEntropyL(PrincipleContract):
    asked = shoal.EntropyL(l=2.5)
    labels = True


class TestRecursiveCL(PrincipleContract):
    asked = shoal.RecursiveCL(c=1.5, l=2)
    labels = True


class TestTCloseness(PrincipleContract):
    asked = shoal.TCloseness(t=0.4)
    labels = True


class TestOrderedTCloseness(PrincipleContract):
    asked = shoal.TCloseness(t=0.2, ground="ordered")


class TestDeltaDisclosure(PrincipleContract):
    asked = shoal.DeltaDisclosure(delta=1.5)
    labels = True


class TestBetaLikeness(PrincipleContract):
    asked = shoal.BetaLikeness(beta=1)
    labels = True


class TestKE(PrincipleContract):
    asked = shoal.KE(k=3, e=2)


class TestVariance(PrincipleContract):
    asked = shoal.Variance(at_least=4)


def test_no_public_principle_is_without_its_contract():
    kept = {type(one.asked) for one in PrincipleContract.__subclasses__()}
    public = {
        one
        for name in dir(shoal)
        if inspect.isclass(one := getattr(shoal, name)) and issubclass(one, Principle)
    }
    assert public == kept
