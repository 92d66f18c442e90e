import type { ComponentChildren } from 'preact'

export type Tone = 'plain' | 'accent' | 'good' | 'warn' | 'bad'

export function Badge({ tone = 'plain', children }: { tone?: Tone; children: ComponentChildren }) {
  return (
    <span class="badge" data-tone={tone}>
      {children}
    </span>
  )
}

const TONES: Readonly<Record<string, Tone>> = {
  active: 'accent',
  running: 'accent',
  in_progress: 'accent',
  'in progress': 'accent',
  completed: 'good',
  done: 'good',
  merged: 'good',
  accepted: 'good',
  finished: 'good',
  paused: 'warn',
  waiting: 'warn',
  'waiting for approval': 'warn',
  stale: 'warn',
  resumable: 'warn',
  blocked: 'warn',
  parked: 'bad',
  failed: 'bad',
  conflicted: 'bad',
  mismatch: 'bad',
}

/** The word for how something stands. The word is what says it; the colour only helps the eye. */
export function Status({ of }: { of: string }) {
  return <Badge tone={TONES[of] ?? 'plain'}>{of.replaceAll('_', ' ')}</Badge>
}
