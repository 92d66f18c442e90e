import { oneLine, shorten } from '../text/clean.ts'
import type { EventOf } from '../harness/claude/events.ts'
import type { Scene } from './scene.ts'

const PATIENCE_MS = 500

/** The agent waits for the person, who asked to be told on the desktop. */
export function onNotification(scene: Scene<EventOf<'notification'>>): void {
  const name = scene.session === undefined ? 'Stint' : `Stint: ${scene.state.name}`
  const message = shorten(oneLine(scene.event.message || 'The agent is waiting'), 200)
  const [program, args] = notifierFor(process.platform, name, message)
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  // Neither program stays; where there is none, nothing happens.
  spawnSync(program, args, { stdio: 'ignore', timeout: PATIENCE_MS, windowsHide: true })
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
