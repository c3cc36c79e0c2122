# The public names of shoal.measures: each loads its module when it is first used.

from shoal.audit.survey import survey as survey
from shoal.runs.knowing import knows_method as knows_method
from shoal.runs.learning import learning_of as learning_of
from shoal.runs.learning import learning_utility as learning_utility
from shoal.runs.person import person as person
from shoal.runs.refining import refine as refine
from shoal.runs.transformer import CellTransformer as CellTransformer
from shoal.utility.losses import describe_losses as describe_losses
from shoal.utility.losses import losses as losses
from shoal.utility.numbers import features as features
from shoal.utility.numbers import read as read
from shoal.utility.queries import open_answers as open_answers
from shoal.utility.workload import Questions as Questions
from shoal.utility.workload import Workload as Workload
from shoal.utility.workload import query_error as query_error
