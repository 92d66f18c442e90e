import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { finishedLines, liveView } from '../../../src/cli/print/run/show-run.ts'
import { renderFrame } from '../../../src/cli/print/run/frame.ts'
import { EMPTY_VIEW, applyEvent } from '../../../src/cli/print/run/view-state.ts'
import type { RunEvent } from '../../../src/run/entries.ts'
import { Screen } from '../../support/screen.ts'
import { REST, STORY, TASKS, at } from './story.ts'

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse(at(0)) })
  vi.stubEnv('TZ', 'UTC')
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
})

function viewOn(screen: Screen): ReturnType<typeof liveView> {
  return liveView(screen, { color: true })
}

/** Feeds each event at its time and lets the view draw in between. */
function play(view: ReturnType<typeof liveView>, events: readonly RunEvent[]): void {
  for (const event of events) {
    vi.setSystemTime(Math.max(Date.now(), Date.parse(event.at)))
    view.take(event)
    vi.advanceTimersByTime(100)
  }
  // The next clock tick and the frame it schedules.
  vi.advanceTimersByTime(1100)
}

/** The expected screen: all finished lines, then the current block. */
function expected(
  events: readonly RunEvent[],
  { columns, rows }: { columns: number; rows: number },
): string {
  const state = events.reduce(applyEvent, EMPTY_VIEW)
  const now = new Date().toISOString()
  const staying = events.flatMap((event) => finishedLines(event, { columns, color: false }))
  return [...staying, ...renderFrame(state, { columns, rows, color: false, now })].join('\n')
}

/** The clock of the last frame is up to a second behind. */
function withoutTimes(text: string): string {
  return text.replaceAll(/\b(?:\d+m )?\d+s\b/g, (time) => '#'.repeat(time.length))
}

describe('the live view', () => {
  test('shows the current block below all finished lines', () => {
    const screen = new Screen(80, 24)
    const view = viewOn(screen)
    play(view, STORY)
    expect(withoutTimes(screen.text())).toBe(withoutTimes(expected(STORY, screen)))
    play(view, REST.slice(0, -1))
    expect(withoutTimes(screen.text())).toBe(
      withoutTimes(expected([...STORY, ...REST.slice(0, -1)], screen)),
    )
    view.pause()
  })

  test('is drawn with one write per frame, at most ten times a second', () => {
    const screen = new Screen()
    const view = viewOn(screen)
    play(view, STORY)
    screen.writes = []
    for (let ms = 0; ms < 3000; ms += 1) {
      view.take({ kind: 'text', at: at(700), data: { text: `word ${ms}` } })
      vi.advanceTimersByTime(1)
    }
    expect(screen.writes.length).toBeGreaterThan(20)
    expect(screen.writes.length).toBeLessThanOrEqual(31)
    for (const write of screen.writes) {
      expect(write.startsWith('\u001B[?2026h')).toBe(true)
      expect(write.indexOf('\u001B[?2026l')).toBe(write.length - '\u001B[?2026l'.length)
    }
    view.pause()
  })

  test('is redrawn each second for the clock only', () => {
    const screen = new Screen()
    const view = viewOn(screen)
    play(view, STORY)
    screen.writes = []
    vi.advanceTimersByTime(5000)
    expect(screen.writes).toHaveLength(5)
    view.pause()
  })

  test('is not rewritten when nothing changed', () => {
    const screen = new Screen()
    const stands = Date.now()
    const view = liveView(screen, { color: true, now: () => stands })
    for (const event of STORY) view.take(event)
    vi.advanceTimersByTime(5000)
    expect(screen.writes).toHaveLength(1)
    view.take({ kind: 'turn.started', at: at(1), task: TASKS.login, data: { why: 'task' } })
    vi.advanceTimersByTime(5000)
    expect(screen.writes).toHaveLength(1)
    view.pause()
  })

  test('leaves only the finished lines and a visible cursor when it ends', () => {
    const screen = new Screen()
    const view = viewOn(screen)
    play(view, STORY)
    expect(screen.isCursorShown).toBe(false)
    view.pause()
    view.pause()
    expect(screen.text()).toBe(
      '✓ login-form                     4m 12s   509k tokens    $0.41  a1b2c3d',
    )
    expect(screen.isCursorShown).toBe(true)
    screen.writes = []
    vi.advanceTimersByTime(5000)
    screen.resize(60, 20)
    expect(screen.writes).toEqual([])
  })

  test('prints finished lines even when it ends before the next frame', () => {
    const screen = new Screen()
    const view = viewOn(screen)
    for (const event of [...STORY, ...REST]) view.take(event)
    view.pause()
    expect(
      screen
        .text()
        .split('\n')
        .map((line) => line.slice(0, 12)),
    ).toEqual([
      '✓ login-form',
      '✓ session-co',
      '  session lo',
      '✓ rate-limit',
      '✗ sweep-race',
      '⊘ totp      ',
    ])
  })

  test('yields the terminal to a question and resumes', () => {
    const screen = new Screen()
    const view = viewOn(screen)
    play(view, STORY)
    view.pause()
    expect(screen.isCursorShown).toBe(true)
    screen.writes = []
    view.take(REST[0]!)
    vi.advanceTimersByTime(2000)
    expect(screen.writes).toEqual([])
    screen.write('May it? yes\r\n')
    view.resume()
    vi.advanceTimersByTime(1000)
    const lines = screen.text().split('\n')
    expect(lines[1]).toBe('May it? yes')
    expect(lines[2]).toContain('✓ session-cookie')
    expect(lines[3]).toContain('── run 3f9c1a')
    expect(screen.isCursorShown).toBe(false)
    view.pause()
  })

  test.each([
    [60, 24],
    [40, 30],
    [120, 40],
    [41, 40],
  ])('leaves nothing of the old block after a resize to %i columns', (columns, rows) => {
    const screen = new Screen(80, 24)
    const view = viewOn(screen)
    play(view, STORY)
    screen.resize(columns, rows)
    vi.advanceTimersByTime(1000)
    const state = STORY.reduce(applyEvent, EMPTY_VIEW)
    const block = withoutTimes(
      renderFrame(state, { columns, rows, color: false, now: new Date().toISOString() }).join('\n'),
    )
    const text = withoutTimes(screen.text())
    expect(text.endsWith(`\n${block}`)).toBe(true)
    expect(text.slice(0, -block.length)).not.toContain('──')
    expect(text.slice(0, -block.length)).toContain('✓ login-form')
    view.pause()
  })

  test('loses no finished line when made narrower and wider again', () => {
    const screen = new Screen(80, 40)
    const view = viewOn(screen)
    play(view, [...STORY, ...REST.slice(0, 8)])
    for (const columns of [46, 100, 40, 80]) {
      screen.resize(columns, 60)
      vi.advanceTimersByTime(1000)
    }
    expect(withoutTimes(screen.text())).toBe(
      withoutTimes(expected([...STORY, ...REST.slice(0, 8)], screen)),
    )
    view.pause()
  })

  test('leaves nothing of a block that filled the screen', () => {
    const screen = new Screen(80, 15)
    const view = viewOn(screen)
    play(view, STORY.slice(0, 15))
    expect(screen.text()).toMatch(/^── run/)
    view.pause()
    expect(screen.text()).toBe('')
  })

  test('prints messages above the block', () => {
    const screen = new Screen()
    const view = viewOn(screen)
    play(view, STORY)
    view.say('finishing session-cookie; Ctrl-C again stops now')
    vi.advanceTimersByTime(100)
    expect(screen.text().split('\n')[1]).toBe(
      'stint: finishing session-cookie; Ctrl-C again stops now',
    )
    view.pause()
  })

  test('shows the cursor when the process exits without ending the view', () => {
    const screen = new Screen()
    const before = process.listeners('exit')
    const view = viewOn(screen)
    play(view, STORY)
    const added = process.listeners('exit').find((listener) => !before.includes(listener))
    added!(1)
    expect(screen.isCursorShown).toBe(true)
    view.pause()
    expect(process.listeners('exit')).toEqual(before)
  })
})
