"""Which function fixes the findings of a rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from torchlint.fixes import arguments, assignments, comments, mixed_precision, renames, statements, wrapping
from torchlint.fixes.plan import Plan
from torchlint.fixes.spot import Spot

FIXES: Mapping[str, Callable[[Spot], Plan | None]] = {
    "TL002": comments.without_suppression,
    "TL113": arguments.deterministic_attention,
    "TL120": arguments.stable_order,
    "TL201": assignments.called_function,
    "TL202": renames.renamed_switch,
    "TL203": assignments.right_name,
    "TL204": statements.workspace_set,
    "TL205": assignments.right_workspace,
    "TL207": assignments.benchmark_off,
    "TL210": statements.mode_on,
    "TL213": arguments.deterministic_trainer,
    "TL309": arguments.dropout_of_module,
    "TL310": arguments.kept_random_state,
    "TL401": wrapping.sorted_listing,
    "TL402": wrapping.sorted_set,
    "TL502": arguments.waiting_copy,
    "TL505": arguments.one_thread,
    "TL601": arguments.without_biases,
    "TL603": statements.unscaled_first,
    "TL604": mixed_precision.of_torch_amp,
    "TL605": arguments.gradients_to_none,
    "TL606": arguments.pinned_loader,
}
"""None is their answer where the code at hand has no fix that can be relied on."""
