// Starts `torchlint server` and keeps it running; all that is shown comes from there.

import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

import { onInterpreterChange, selectedInterpreter } from "./interpreter";

let client: LanguageClient | undefined;
let output: vscode.OutputChannel;
let turn: Promise<void> = Promise.resolve();

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  output = vscode.window.createOutputChannel("torchlint");
  context.subscriptions.push(
    output,
    vscode.commands.registerCommand("torchlint.restart", restart),
    vscode.commands.registerCommand("torchlint.showOutput", () => output.show()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("torchlint.path")) {
        void restart();
      }
    }),
  );
  await onInterpreterChange(context, restart);
  await restart();
}

export function deactivate(): Promise<void> {
  return stop();
}

// One restart after another: a change of the interpreter may come while the server starts.
function restart(): Promise<void> {
  turn = turn.then(stopAndStart, stopAndStart);
  return turn;
}

// A server that did not start cannot be stopped, either.
async function stop(): Promise<void> {
  const old = client;
  client = undefined;
  if (old?.needsStop()) {
    await old.dispose();
  }
}

async function stopAndStart(): Promise<void> {
  await stop();
  client = new LanguageClient("torchlint", "torchlint", await serverOptions(), clientOptions());
  try {
    await client.start();
  } catch (error) {
    const hint = 'Install it where your Python is: pip install pygls beside torchlint, or set torchlint.path.';
    const choice = await vscode.window.showErrorMessage(`torchlint did not start. ${hint}`, "Show Output");
    output.appendLine(String(error));
    if (choice) {
      output.show();
    }
  }
}

async function serverOptions(): Promise<ServerOptions> {
  const cwd = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const path = vscode.workspace.getConfiguration("torchlint").get<string>("path");
  if (path) {
    return { command: path, args: ["server"], options: { cwd } };
  }
  const python = await selectedInterpreter();
  if (python) {
    return { command: python, args: ["-m", "torchlint", "server"], options: { cwd } };
  }
  return { command: "torchlint", args: ["server"], options: { cwd } };
}

function clientOptions(): LanguageClientOptions {
  return {
    documentSelector: [
      { scheme: "file", language: "python" },
      { scheme: "untitled", language: "python" },
      { notebook: "jupyter-notebook", language: "python" },
    ],
    synchronize: { configurationSection: "torchlint" },
    initializationOptions: vscode.workspace.getConfiguration("torchlint"),
    outputChannel: output,
  };
}
