import { spawn } from 'node:child_process'

/** Shows an address in the browser of the person, where there is one. Nothing waits for it, and nothing fails for it. */
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
  // `start` is a word of the shell, and takes its first argument for a title.
  return platform === 'win32' ? ['cmd', '/c', 'start', ''] : ['xdg-open']
}
