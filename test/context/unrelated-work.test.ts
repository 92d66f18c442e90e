import { describe, expect, test } from 'vitest'
import { looksUnrelated } from '../../src/context/intent/unrelated-work.ts'
import { Story, sweepStory } from '../support/worlds.ts'
import { longStory, noticedStory } from './sessions.ts'

const sweep = sweepStory().state
const cookie = noticedStory().state

describe('work unrelated to the session', () => {
  test.each([
    'Add a dark mode toggle to the settings page, with icons for sun and moon and a keyboard shortcut',
    'Can you upgrade the npm packages of the website and pin Tailwind and React to their newest versions?',
    'Refactor the CSS header so the logo, navigation and avatar align on narrow phones',
    'Write a blog post announcing our summer conference, with speakers, venue and ticket prices',
    'Please translate the onboarding emails into Portuguese, Italian and Dutch for marketing',
    'upgrade npm packages',
  ])('is detected in %j', (prompt) => {
    expect(looksUnrelated(prompt, sweep)).toBe(true)
  })

  test('is detected when only hooks captured anything', () => {
    expect(
      looksUnrelated(
        'Design a PostgreSQL schema for invoices, line items, currencies and tax rates',
        cookie,
      ),
    ).toBe(true)
  })
})

describe('work that may be related to the session', () => {
  test.each([
    // A common word, in any form.
    'Add a metric that counts how many sweeps were triggered by each mempool watcher, and graph them in Grafana',
    'Write documentation on mutexes, channels and deadlocks for junior developers joining in autumn',
    'Refactor chain_watcher.go into smaller pieces with clear names and unit coverage',
    // A reference to earlier work.
    'Add a dark mode toggle to it, with icons for sun and moon and a keyboard shortcut',
    'Write unit coverage for these helpers, including empty strings, emoji and huge numbers',
    'Fix the failing tests in Firefox, Safari, Chrome and Edge on Windows laptops',
    'Also upgrade Tailwind, React, Webpack and Babel to their newest major versions',
    // Not a request, or hardly one.
    'Why do the website colors look washed out on projectors and older Android tablets?',
    'yes, do it',
    'continue',
    '/compact',
    '<task-notification>Add dark mode toggle settings page icons keyboard shortcut sun moon</task-notification>',
    // Scripts without spaces between words.
    '为设置页面添加深色模式切换按钮，并更新所有图标和键盘快捷键',
  ])('is never reported as unrelated: %j', (prompt) => {
    expect(looksUnrelated(prompt, sweep)).toBe(false)
  })

  test('is never reported as unrelated when too little is known of the session', () => {
    const story = new Story()
    story.add('goal.set', { text: 'Tidy up' })
    expect(
      looksUnrelated(
        'Add a dark mode toggle to the settings page, with icons for sun and moon and a keyboard shortcut',
        story.state,
      ),
    ).toBe(false)
  })

  test('is recognised by a changed file', () => {
    const prompt =
      'Rename helpers in subscriber_7.go, giving each parameter clearer meaning for newcomers'
    expect(looksUnrelated(prompt, longStory().state)).toBe(false)
    expect(looksUnrelated(prompt, cookie)).toBe(true)
  })

  test('is recognised by any earlier request', () => {
    const story = noticedStory()
    const prompt = 'Design a PostgreSQL schema for invoices, line items, currencies and tax rates'
    story.add('request.made', { text: 'next week we do the invoices', conversation: 'c-1' })
    expect(looksUnrelated(prompt, story.state)).toBe(false)
  })
})
