import { spawn } from 'node:child_process'

/** Nothing waits for it, and failures are ignored. */
export function openBrowser(url: string, env: NodeJS.ProcessEnv): void {
  const [command, ...args] = commandFor(process.platform)
  const child = spawn(command!, [...args, url], {
    stdio: 'ignore',
    detached: true,
    env,
    windowsHide: true,
  })
  child.once('error', () => {})
  child.unref()
}

function commandFor(platform: NodeJS.Platform): readonly string[] {
  if (platform === 'darwin') return ['open']
  // `start` is a shell builtin that takes its first argument as a title.
  return platform === 'win32' ? ['cmd', '/c', 'start', ''] : ['xdg-open']
}
