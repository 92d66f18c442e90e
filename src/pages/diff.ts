import { spawn } from 'node:child_process'

const MOST_BYTES = 512 * 1024
const TIMEOUT_MS = 20_000
const FLAGS = ['--no-color', '--no-ext-diff', '--no-textconv', '--no-renames']

/** Empty when git fails. */
export async function diffOf(
  root: string,
  range: string,
): Promise<{ readonly diff: string; readonly isCut: boolean }> {
  const git = spawn('git', ['-c', 'core.quotepath=off', 'diff', ...FLAGS, range, '--'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      ...process.env,
      LC_ALL: 'C',
      GIT_OPTIONAL_LOCKS: '0',
      GIT_PAGER: 'cat',
      GIT_EXTERNAL_DIFF: '',
    },
    timeout: TIMEOUT_MS,
    windowsHide: true,
  })
  const pieces: Buffer[] = []
  let bytes = 0
  const ended = new Promise<void>((resolve) =>
    git.once('close', () => resolve()).once('error', () => resolve()),
  )
  git.stdout.on('data', (piece: Buffer) => {
    pieces.push(piece)
    bytes += piece.length
    if (bytes > MOST_BYTES) git.kill()
  })
  await ended
  const whole = Buffer.concat(pieces)
  if (whole.length <= MOST_BYTES) return { diff: whole.toString('utf8'), isCut: false }
  const cut = whole.subarray(0, MOST_BYTES)
  return { diff: cut.subarray(0, cut.lastIndexOf(0x0a) + 1).toString('utf8'), isCut: true }
}
