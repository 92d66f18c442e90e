import type { HookEventOf } from '../harness/contract/hooks.ts'
import { oneLine, shorten } from '../text/clean.ts'
import type { SessionContext } from './session-context.ts'

const NOTIFIER_MS = 500

/** The agent is waiting, and the user has enabled desktop notifications. */
export function onNotification(context: SessionContext<HookEventOf<'notification'>>): void {
  const name = context.session === undefined ? 'Stint' : `Stint: ${context.state.name}`
  const message = shorten(oneLine(context.event.message || 'The agent is waiting'), 200)
  const [program, args] = notifierFor(process.platform, name, message)
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  // Both programs exit at once; without them nothing happens.
  spawnSync(program, args, { stdio: 'ignore', timeout: NOTIFIER_MS, windowsHide: true })
}

function notifierFor(
  platform: string,
  title: string,
  message: string,
): readonly [string, string[]] {
  if (platform !== 'darwin') return ['notify-send', ['--app-name=Stint', '--', title, message]]
  const script =
    'on run {theTitle, theMessage}\ndisplay notification theMessage with title theTitle\nend run'
  return ['osascript', ['-e', script, title, message]]
}
