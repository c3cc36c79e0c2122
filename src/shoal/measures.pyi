# The public names of shoal.measures: each loads its module when it is first used.

from shoal.audit.survey import levels as levels
from shoal.runs.exporting import export_file as export_file
from shoal.runs.knowing import minimality as minimality
from shoal.runs.learning import learning_from_release as learning_from_release
from shoal.runs.learning import learning_utility as learning_utility
from shoal.runs.person import person as person
from shoal.runs.refining import refine as refine
from shoal.runs.transformer import CellTransformer as CellTransformer
from shoal.utility.losses import describe_losses as describe_losses
from shoal.utility.losses import losses as losses
from shoal.utility.numbers import features as features
from shoal.utility.numbers import read as read
from shoal.utility.queries import queryable as queryable
from shoal.utility.workload import CountQueries as CountQueries
from shoal.utility.workload import Workload as Workload
from shoal.utility.workload import query_error as query_error
