"""What a run dispatches: its operators as events, the user's lines behind them, the operands that make them vary.

All of it watches; nothing here knows what is run.
"""
