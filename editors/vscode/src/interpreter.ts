// The Python interpreter that is selected in the Python extension, where that is installed.

import * as vscode from "vscode";

interface Environments {
  getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
  resolveEnvironment(environment: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
  onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
}

export async function selectedInterpreter(): Promise<string | undefined> {
  const environments = await knownEnvironments();
  if (!environments) {
    return undefined;
  }
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const selected = await environments.resolveEnvironment(environments.getActiveEnvironmentPath(folder));
  return selected?.executable.uri?.fsPath;
}

export async function onInterpreterChange(context: vscode.ExtensionContext, run: () => unknown): Promise<void> {
  const environments = await knownEnvironments();
  if (environments) {
    context.subscriptions.push(environments.onDidChangeActiveEnvironmentPath(run));
  }
}

async function knownEnvironments(): Promise<Environments | undefined> {
  const python = vscode.extensions.getExtension<{ environments?: Environments }>("ms-python.python");
  return python && (python.isActive ? python.exports : await python.activate()).environments;
}
