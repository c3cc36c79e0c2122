"""Shoal publishes tables about people so that nobody's sensitive value can be nearly known.

The names below are all there is to learn; they load what they need when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal.version import __version__

_HOMES = {
    "anonymize": "engines.local",
    "plan": "planning",
    "compare": "engines.compare",
    "tune": "engines.tune",
    "knows_method": "engines.knowing",
    "Knowing": "engines.knowing",
    "learning_utility": "engines.learning.utility",
    "learning_of": "engines.learning.utility",
    "LearningUtility": "engines.learning.utility",
    "audit_files": "audit.files",
    "survey": "audit.survey",
    "Survey": "audit.survey",
    "attack": "audit.attack",
    "Attack": "audit.attack",
    "Workload": "queries.workload",
    "Questions": "queries.workload",
    "QueryError": "queries.workload",
    "query_error": "queries.workload",
    "count": "queries.expression",
    "losses": "loss.measure",
    "describe_losses": "loss.measure",
    "inspect": "schema.inspection",
    "Inspection": "schema.inspection",
    "Schema": "schema.roles",
    "Listed": "schema.grouping",
    "Prefix": "schema.grouping",
    "Calendar": "schema.grouping",
    "Bins": "schema.grouping",
    "Quantiles": "schema.grouping",
    "Grouped": "schema.grouping",
    "Requirement": "principles.requirement",
    "EpsilonM": "principles.proximity",
    "Neighbourhood": "principles.proximity",
    "DeltaL": "principles.proximity",
    "Window": "principles.window",
    "KAnonymity": "principles.k_anonymity",
    "Dissimilarity": "principles.dissimilarity",
    "FrequencyL": "principles.frequency",
    "AlphaK": "principles.frequency",
    "DistinctL": "principles.l_diversity",
    "EntropyL": "principles.l_diversity",
    "RecursiveCL": "principles.l_diversity",
    "TCloseness": "principles.t_closeness",
    "KE": "principles.spread",
    "Variance": "principles.spread",
    "DeltaDisclosure": "principles.disclosure",
    "BetaLikeness": "principles.disclosure",
    "MUniqueness": "principles.uniqueness",
    "KMap": "principles.population",
    "DeltaPresence": "principles.population",
    "Absolute": "distances.numeric",
    "Lp": "distances.numeric",
    "SmallestDifference": "distances.numeric",
    "TotalVariation": "distances.numeric",
    "Equality": "distances.labels",
    "Edit": "distances.labels",
    "Lookup": "distances.labels",
    "Function": "distances.labels",
    "Hierarchical": "distances.hierarchical",
    "GreatCircle": "distances.geographic",
    "Exchange": "methods.exchange",
    "XColor": "methods.exchange",
    "Split": "methods.split",
    "Mondrian": "methods.mondrian",
    "Oblivious": "methods.oblivious",
    "Freeform": "methods.freeform.method",
    "Ring": "methods.freeform.method",
    "GeneralizationGraph": "methods.freeform.graph",
    "Perturb": "rivals.perturb",
    "Anatomy": "rivals.anatomy",
    "Release": "release.release",
    "Audit": "audit.verify",
    "Plan": "planning",
    "Comparison": "engines.compare",
    "Frontier": "engines.tune",
    "Guarantee": "guarantee",
    "ShoalError": "errors",
    "UsageError": "errors",
    "InputError": "errors",
    "NotAchievable": "errors",
    "AuditFailed": "errors",
    "OutputError": "errors",
}

__all__ = [
    "KE",
    "Absolute",
    "AlphaK",
    "Anatomy",
    "Attack",
    "Audit",
    "AuditFailed",
    "BetaLikeness",
    "Bins",
    "Calendar",
    "Comparison",
    "DeltaDisclosure",
    "DeltaL",
    "DeltaPresence",
    "Dissimilarity",
    "DistinctL",
    "Edit",
    "EntropyL",
    "EpsilonM",
    "Equality",
    "Exchange",
    "Freeform",
    "FrequencyL",
    "Frontier",
    "Function",
    "GeneralizationGraph",
    "GreatCircle",
    "Grouped",
    "Guarantee",
    "Hierarchical",
    "InputError",
    "Inspection",
    "KAnonymity",
    "KMap",
    "Knowing",
    "LearningUtility",
    "Listed",
    "Lookup",
    "Lp",
    "MUniqueness",
    "Mondrian",
    "Neighbourhood",
    "NotAchievable",
    "Oblivious",
    "OutputError",
    "Perturb",
    "Plan",
    "Prefix",
    "Quantiles",
    "QueryError",
    "Questions",
    "RecursiveCL",
    "Release",
    "Requirement",
    "Ring",
    "Schema",
    "ShoalError",
    "SmallestDifference",
    "Split",
    "Survey",
    "TCloseness",
    "TotalVariation",
    "UsageError",
    "Variance",
    "Window",
    "Workload",
    "XColor",
    "__version__",
    "anonymize",
    "attack",
    "audit_files",
    "compare",
    "count",
    "describe_losses",
    "inspect",
    "knows_method",
    "learning_of",
    "learning_utility",
    "losses",
    "plan",
    "query_error",
    "survey",
    "tune",
]

if TYPE_CHECKING:
    from shoal.audit.attack import Attack, attack
    from shoal.audit.files import audit_files
    from shoal.audit.survey import Survey, survey
    from shoal.audit.verify import Audit
    from shoal.distances.geographic import GreatCircle
    from shoal.distances.hierarchical import Hierarchical
    from shoal.distances.labels import Edit, Equality, Function, Lookup
    from shoal.distances.numeric import Absolute, Lp, SmallestDifference, TotalVariation
    from shoal.engines.compare import Comparison, compare
    from shoal.engines.knowing import Knowing, knows_method
    from shoal.engines.learning.utility import LearningUtility, learning_of, learning_utility
    from shoal.engines.local import anonymize
    from shoal.engines.tune import Frontier, tune
    from shoal.errors import (
        AuditFailed,
        InputError,
        NotAchievable,
        OutputError,
        ShoalError,
        UsageError,
    )
    from shoal.guarantee import Guarantee
    from shoal.loss.measure import describe_losses, losses
    from shoal.methods.exchange import Exchange, XColor
    from shoal.methods.freeform.graph import GeneralizationGraph
    from shoal.methods.freeform.method import Freeform, Ring
    from shoal.methods.mondrian import Mondrian
    from shoal.methods.oblivious import Oblivious
    from shoal.methods.split import Split
    from shoal.planning import Plan, plan
    from shoal.principles.disclosure import BetaLikeness, DeltaDisclosure
    from shoal.principles.dissimilarity import Dissimilarity
    from shoal.principles.frequency import AlphaK, FrequencyL
    from shoal.principles.k_anonymity import KAnonymity
    from shoal.principles.l_diversity import DistinctL, EntropyL, RecursiveCL
    from shoal.principles.population import DeltaPresence, KMap
    from shoal.principles.proximity import DeltaL, EpsilonM, Neighbourhood
    from shoal.principles.requirement import Requirement
    from shoal.principles.spread import KE, Variance
    from shoal.principles.t_closeness import TCloseness
    from shoal.principles.uniqueness import MUniqueness
    from shoal.principles.window import Window
    from shoal.queries.expression import count
    from shoal.queries.workload import QueryError, Questions, Workload, query_error
    from shoal.release.release import Release
    from shoal.rivals.anatomy import Anatomy
    from shoal.rivals.perturb import Perturb
    from shoal.schema.grouping import Bins, Calendar, Grouped, Listed, Prefix, Quantiles
    from shoal.schema.inspection import Inspection, inspect
    from shoal.schema.roles import Schema


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        msg = f"module 'shoal' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"shoal.{_HOMES[name]}"), name)
