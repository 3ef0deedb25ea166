import os
import time

import torch


def save(path, model, optimizer, scheduler, step):
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
        "rng": torch.get_rng_state(),
        "step": step,
        "saved_at": time.time(),
        "host": os.uname().nodename,
    }
    partial = f"{path}.{os.getpid()}.partial"
    torch.save(state, partial)
    os.replace(partial, path)


def load(path, model, optimizer, scheduler):
    state = torch.load(path, weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    scheduler.load_state_dict(state["scheduler"])
    torch.set_rng_state(state["rng"])
    print(f"resumed at step {state['step']}, saved {time.time() - state['saved_at']:.3f} s ago")
    return state["step"]
