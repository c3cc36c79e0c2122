"""Every principle keeps the contract of its family."""

from __future__ import annotations

import inspect

import shoal
from contracts.principles import PrincipleContract
from shoal.principles.base import Principle


class TestEpsilonM(PrincipleContract):
    asked = shoal.principles.EpsilonM(epsilon=1, m=2)


class TestRelativeEpsilonM(PrincipleContract):
    asked = shoal.principles.EpsilonM(epsilon=0.3, m=2, relative=True)


class TestNeighbourhood(PrincipleContract):
    asked = shoal.principles.Neighbourhood(below=1, above=2, m=2)


class TestDeltaL(PrincipleContract):
    asked = shoal.principles.DeltaL(delta=0.5, l=2)


class TestWindow(PrincipleContract):
    asked = shoal.principles.Window(width=1, m=2)


class TestChain(PrincipleContract):
    asked = shoal.principles.Chain(epsilon=1, m=2)


class TestDissimilarity(PrincipleContract):
    asked = shoal.principles.Dissimilarity(
        epsilon=1, delta=0.5, k=2, distance=shoal.distances.Absolute()
    )


class TestKAnonymity(PrincipleContract):
    asked = shoal.principles.KAnonymity(k=3)


class TestKMap(PrincipleContract):
    asked = shoal.principles.KMap(k=4)


class TestDeltaPresence(PrincipleContract):
    asked = shoal.principles.DeltaPresence(low=0.1, high=0.8)


class TestFrequencyL(PrincipleContract):
    asked = shoal.principles.FrequencyL(l=2)
    labels = True


class TestAlphaK(PrincipleContract):
    asked = shoal.principles.AlphaK(alpha=0.5, k=2)
    labels = True


class TestMUniqueness(PrincipleContract):
    asked = shoal.principles.MUniqueness(m=2)
    labels = True


class TestDistinctL(PrincipleContract):
    asked = shoal.principles.DistinctL(l=3)
    labels = True


class TestEntropyL(PrincipleContract):
    asked = shoal.principles.EntropyL(l=2.5)
    labels = True


class TestRecursiveCL(PrincipleContract):
    asked = shoal.principles.RecursiveCL(c=1.5, l=2)
    labels = True


class TestTCloseness(PrincipleContract):
    asked = shoal.principles.TCloseness(t=0.4)
    labels = True


class TestOrderedTCloseness(PrincipleContract):
    asked = shoal.principles.TCloseness(t=0.2, ground="ordered")


class TestDeltaDisclosure(PrincipleContract):
    asked = shoal.principles.DeltaDisclosure(delta=1.5)
    labels = True


class TestBetaLikeness(PrincipleContract):
    asked = shoal.principles.BetaLikeness(beta=1)
    labels = True


class TestKE(PrincipleContract):
    asked = shoal.principles.KE(k=3, e=2)


class TestVariance(PrincipleContract):
    asked = shoal.principles.Variance(at_least=4)


def test_no_public_principle_is_without_its_contract():
    kept = {type(one.asked) for one in PrincipleContract.__subclasses__()}
    public = {
        one
        for name in dir(shoal.principles)
        if inspect.isclass(one := getattr(shoal.principles, name)) and issubclass(one, Principle)
    }
    assert public == kept
