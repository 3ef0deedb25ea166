"""What lets an old project take torchlint up: a baseline, ignore comments, changed lines."""
