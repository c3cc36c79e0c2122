"""Every method keeps the contract of its family."""

from __future__ import annotations

import inspect

import shoal
from contracts.methods import MethodContract
from shoal.methods.base import Method

NEAR = ("EpsilonM(epsilon=100, m=2)", "DeltaL(delta=30, l=2)")


class TestExchange(MethodContract):
    method = shoal.methods.Exchange()
    serves = (*NEAR, "KAnonymity(k=3)", "FrequencyL(l=2)")
    refuses = "TCloseness(t=0.3)"


class TestXColor(MethodContract):
    method = shoal.methods.XColor()
    serves = ("Dissimilarity(epsilon=50, delta=0.5, k=3, distance=Absolute())",)
    refuses = "KAnonymity(k=3)"


class TestSplit(MethodContract):
    method = shoal.methods.Split()
    serves = NEAR
    refuses = "TCloseness(t=0.3)"


class TestRoundRobin(MethodContract):
    method = shoal.methods.Split(partition="round-robin")
    serves = NEAR
    refuses = "TCloseness(t=0.3)"


class TestMondrian(MethodContract):
    method = shoal.methods.Mondrian()
    serves = ("KAnonymity(k=3)", "DistinctL(l=3)", "TCloseness(t=0.5)", "Window(width=100, m=2)")
    refuses = "EpsilonM(epsilon=100, m=2)"


class TestOblivious(MethodContract):
    method = shoal.methods.Oblivious()
    serves = ("EpsilonM(epsilon=100, m=2)",)
    refuses = "TCloseness(t=0.3)"


class TestFreeform(MethodContract):
    method = shoal.methods.Freeform()
    serves = ("KAnonymity(k=3)",)
    refuses = "EpsilonM(epsilon=100, m=2)"


class TestRing(MethodContract):
    method = shoal.methods.Ring()
    serves = ("KAnonymity(k=3)",)
    refuses = "EpsilonM(epsilon=100, m=2)"


def test_no_public_method_is_without_its_contract():
    kept = {type(one.method) for one in MethodContract.__subclasses__()}
    public = {
        one
        for name in dir(shoal.methods)
        if inspect.isclass(one := getattr(shoal.methods, name)) and issubclass(one, Method)
    }
    assert public == kept
