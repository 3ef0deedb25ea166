"""torchlint finds the reasons why a PyTorch program does not give the same numbers twice."""

__version__ = "0.2.0"
