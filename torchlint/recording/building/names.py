"""What names say: values for constructor arguments, and the kind of tensor behind an input's name."""

from __future__ import annotations

import re
from collections.abc import Sequence

WIDTH = 16
"""Channels and features where nothing says otherwise; batches are of 2, so that a mix-up of the two shows."""

IMAGE = 32
"""Height and width of invented images."""

ARGUMENTS: Sequence[tuple[str, object]] = (
    # The first row whose pattern matches the whole name decides.
    (r"(num_|n_|nb_|no_)?(class(es)?|labels?|targets|categories|cls)|(out(put)?_)classes|nclass(es)?", 5),
    (r".*vocab.*|.*num_(tokens|emb(eddings)?|entities|nodes|words|relations|types)|n_?(tokens?|words)", 20),
    (r"(spatial_|n_|num_|img_|input_|space_)?(dims|ndims?|dimensions?)|spatial_(dims|ndim)|ndim|.*conv_dim", 2),
    (r"(.*_)?(n_?|num_?)?heads?|.*num_(attention_|kv_)?heads|.*nhead", 2),
    (r"dim_head|head_dim|d_head|head_(size|channels)|d_k|d_v", 8),
    (r".*pool.*size|.*output_size|out_size", 4),
    (r".*(kernel|ksize|filter_size|conv_size).*|k_size|ks|k", 3),
    (r".*window.*", 4),
    (r".*patch.*size.*|patch(es)?", 4),
    (r".*(stride|dilation|groups|padding|pad|cardinality)s?|.*output_stride|.*_idx|.*_index|idx", 1),
    (r".*growth.*", 8),
    (r".*sampl(e|ing)_?rate.*|sr", 16_000),
    (r".*(drop|prob|rate).*|p", 0.1),
    (r".*(pretrain|checkpoint|resume|ckpt).*", False),
    (r"eps.*|.*_eps(ilon)?", 1e-5),
    (
        r"(momentum|alpha|beta|gamma|temperature|tau|sigma|std|margin|lambda.*|lam.*|.*weight|.*_coef|.*threshold|delta)",
        0.5,
    ),
    (r"(scale|.*_scale|upscale.*|scale_factor|.*ratio|.*expansion|expand.*|.*factor|.*mult(iplier)?|reduction)", 2),
    (
        r"(num_|n_|nb_)?(.*_)?(layers?|blocks?|depths?|stages?|iters?|iterations?|steps?|levels?|repeats?|hops|stacks?)",
        2,
    ),
    (
        r"(num_|n_|nb_)(res.*|experts?|scales?|convs?|copies|modes?|stacks?|hidden|frames|.*samples?|masks|quer(y|ies))",
        2,
    ),
    (r"(.*_)?(image|img|input|in|spatial|feat(ure)?|fmap|grid|frame|video)_?(size|shape|res(olution)?|dim)s?", IMAGE),
    (r"(num_|n_|nb_)(?!.*(feat|chan|filter|hidden|dim|in_|out_|input|output|unit|embed|planes)).*", 2),
    (r"resolution|size|height|width|h|w|.*_(height|width)", IMAGE),
    (r".*(max|seq|context|block|sequence|n|source|target)_?(.*_)?(len(gth)?|ctx|size|positions?|pos)|length", WIDTH),
    (r"(use|is|has|with|do|return|enable|allow|add|apply|need|requires?|share)_.*|(.*_)?bias|causal|training", False),
    (r".*", WIDTH),
)
"""Constructor arguments that are numbers, by name."""

TEXTS: Sequence[tuple[str, tuple[str, ...]]] = (
    (r".*act.*|.*nonlin.*", ("relu", "ReLU", "gelu", "silu")),
    (r".*norm.*", ("batch", "layer", "instance", "BN", "group", "BATCH", "INSTANCE")),
    (r".*pad.*", ("zeros", "same", "reflect", "constant")),
    (r".*reduc.*", ("mean", "sum", "none")),
    (r".*pool.*", ("max", "avg", "mean")),
    (r".*(interp|mode|upsample|resample).*", ("bilinear", "nearest", "linear", "deconv", "reflect", "same")),
    (r".*aggr.*", ("mean", "sum", "add", "max")),
    (r".*device.*", ("cpu",)),
    (r".*(backbone|encoder|arch|model|variant).*", ("resnet18", "resnet50", "base", "small", "tiny")),
    (r".*order.*", ("NDA", "conv_norm_act")),
    (r".*", ("default", "none", "mean", "relu", "same")),
)
"""Constructor arguments that are text."""

INPUTS: Sequence[tuple[str, str]] = (
    (
        r"(.*_)?(input_ids|token_?ids|tokens?|ids|word_?ids|words|text|input_seq|seqs?_ids|captions?|indices|codes|durations?)",
        "tokens",
    ),
    (r".*(edge_index|adj_t|edges)", "edges"),
    (r"edge_(attrs?|features?|feats?|weights?|type|vec)|.*edge_weights?", "edge features"),
    (r"(edge|node)_type", "edge types"),
    (r"batch(_index)?|.*batch_idx|x_batch|index", "groups"),
    (r"(num|dim|n)_?(nodes|size|graphs?)|dim_size|batch_size", "number"),
    (r"adj(acency)?(_mat(rix)?)?", "adjacency"),
    (r"pos|.*coords?|positions?|coors|xyz", "positions"),
    (r".*mask.*", "mask"),
    (r"t|time.*|.*timesteps?|noise_(level|cond)|sigmas?|steps?|times", "times"),
    (r"(.*_)?(lengths?|lens)", "lengths"),
    (
        r".*(homograph|homo).*|h_mat|trans(form|formation)?s?(_mat.*)?|matrix|mat|affine|theta|hom(1|2)?|.*_matrix3x3",
        "3x3",
    ),
    (r".*(camera_?matrix|intrinsics?|calibration)(_?\d)?|k(1|2)?|.*fundamental.*|f_mat|e_mat|.*essential.*", "3x3"),
    (r".*rotation_matrix|r(ot)?(1|2)?|rotmat", "3x3"),
    (r".*(extrinsics?|pose|4x4|proj(ection)?_mat).*", "4x4"),
    (r".*quat(ernion)?s?", "quaternions"),
    (r".*(angle_axis|axis_angle|rvec|trans_vec|translation|tvec|t_vec|euler)", "vectors of 3"),
    (r".*lafs?\d?", "frames"),
    (r".*(rois?|bbox(es)?|boxes\d?).*", "boxes"),
    (r".*(kpts?|keypoints?|points?|pts|corners|centers?)(_?\w)?", "points"),
    (
        r".*(angle|theta|degrees?|factor|gamma|brightness|contrast|saturation|hue|strength|kappa|weight|std|var)s?",
        "scalars",
    ),
    (r"(.*_)?(target|targets|label|labels|y_true|gt|ground_?truth|truth|y|trg)", "target"),
    (
        r"(q|k|v|query|key|value|queries|keys|values|src|tgt|memory|source|context|ctx|cond.*|.*emb(ed.*)?s?)",
        "sequence",
    ),
    (r".*(encoder_hidden_states|hidden_states|history|enc_out.*|seqs?|sequences?|queries|residual)", "sequence"),
    (r".*(output_|out_|target_|img_|image_|spatial_)?(size|shape|hw|resolution)s?", "size"),
    (r"(height|width|h|w|n|num_.*|n_.*|max_.*|seq_len|steps|idx|dim|length|layer_idx|stage)", "number"),
    (r"(.*_)?(feats|features|feature_maps|fmaps|xs|inputs_list|skips?|pyramid|hierarchical_.*|\w+_list)", "list"),
    (r".*(imgs?|images?|frames?|pixel_values|rgb|depth|disparity|gray|disp).*", "image"),
    (r"(video|videos|clips?)", "video"),
    (r"(audio|wave(form)?|signal|speech|wav)s?", "signal"),
    (r"(.*_)?(hiddens?|hxs?|h_?0|state|states)|prev_.*|rnn_.*|mems?", "state"),
    (r".*", "main"),
)
"""The kind of input that a name stands for."""


def first(rows: Sequence[tuple[str, object]], name: str) -> object:
    """What the first row says whose pattern matches all of the name."""
    return next(value for pattern, value in rows if re.fullmatch(pattern, name.lower().strip("_")))
