"""torchlint finds the reasons why a PyTorch program does not give the same numbers twice."""

__version__ = "0.1.0"
