import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  STATUS_LINE,
  areHooksCurrent,
  hookGroups,
  statusLineOwner,
} from '../../src/harness/claude/setup/settings.ts'
import {
  addToSettings,
  existingContainers,
  removeFromSettings,
} from '../../src/harness/claude/setup/settings-edit.ts'

const groups = hookGroups({ notify: false })
const wanted = { groups, hasStatusLine: true }
const add = (text: string, what = wanted) => addToSettings(text, what).at(-1)!

/** Whether the second text is the first with insertions. */
function isKeptIn(text: string, longer: string): boolean {
  let at = 0
  for (let index = 0; index < longer.length; index += 1) if (longer[index] === text[at]) at += 1
  return at === text.length
}

const ODD: readonly (readonly [string, string])[] = [
  ['two spaces', '{\n  "model": "opus",\n  "env": {}\n}\n'],
  ['four spaces and no newline at the end', '{\n    "model": "opus"\n}'],
  ['tabs', '{\n\t"permissions": {\n\t\t"allow": ["Bash(ls)"]\n\t}\n}\n'],
  ['CRLF', '{\r\n  "a": 1,\r\n  "hooks": {\r\n    "Stop": []\r\n  }\r\n}\r\n'],
  [
    'everything in one line',
    '{"a":1,"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}',
  ],
  ['one line with spaces', '{ "a": 1 ,  "b" : [ 1,2 ] }\n'],
  ['an empty object', '{}'],
  ['an open empty object', '{\n}\n'],
  ['blanks in an empty object', '{   }\n\n\n'],
  [
    'members on one line among others',
    '{\n  "a": 1,   "b": 2,\n\n\n  "hooks": { "Stop": [ ] , "PreToolUse": [] }  }\n',
  ],
  [
    'hooks in the middle',
    '{\n "z": 1,\n "hooks": {\n  "Stop": [\n   {"hooks": [{"type":"command","command":"x"}]}\n  ]\n },\n "a": 2\n}',
  ],
  ['a byte-order mark', '\uFEFF{\n  "a": 1\n}\n'],
  ['escapes and other scripts', '{\n  "\\u0061\\"": "\\u2028 🚀 \\\\",\n  "ключ": "值"\n}\n'],
  ['no indentation', '{\n"a": {\n"b": 1\n}\n}\n'],
]

describe('settings', () => {
  test.each(ODD)('with %s keep every byte, and lose ours again', (_, text) => {
    const bare = text.replace('\uFEFF', '')
    const after = add(bare)
    expect(isKeptIn(bare, after)).toBe(true)
    const settings = JSON.parse(after)
    expect(areHooksCurrent(settings, groups)).toBe(true)
    expect(settings.statusLine).toEqual(STATUS_LINE)
    expect(JSON.parse(removeFromSettings(after, existingContainers(bare)))).toEqual(
      JSON.parse(bare),
    )
  })

  // Only exact undo restores white space inside empty brackets.
  const whole = ODD.filter(([, text]) => /^\{\s*"/.test(text) && !text.includes('[ ]'))
  test.each(whole)('with %s are restored byte by byte', (_, text) => {
    expect(removeFromSettings(add(text), existingContainers(text))).toBe(text)
  })

  test('are indented like the file', () => {
    expect(add('{\n\t"a": 1\n}\n')).toContain(
      '\n\t"hooks": {\n\t\t"SessionStart": [\n\t\t\t{\n\t\t\t\t"hooks": [\n',
    )
    expect(add('{\r\n    "a": 1\r\n}').replaceAll('\r\n', '')).not.toContain('\n')
    expect(add('{"a":1}')).toMatch(/^\{"a":1,"hooks":\{"SessionStart":\[\{"hooks":/)
  })

  test('that are empty become valid JSON', () => {
    for (const blank of ['', '\n', '  \r\n'])
      expect(add(blank)).toMatch(/^\{\n {2}"hooks": \{\n[\s\S]*\n\}\n$/)
  })

  test('keep foreign hooks beside ours, and in our group', () => {
    const settings = JSON.parse(add('{}'))
    const theirs = { type: 'command', command: 'echo theirs' }
    settings.hooks.Stop[0].hooks.push(theirs)
    settings.hooks.SessionEnd.unshift({ hooks: [theirs] })
    const text = JSON.stringify(settings, undefined, 2)
    expect(areHooksCurrent(settings, groups)).toBe(true)
    expect(JSON.parse(removeFromSettings(text))).toEqual({
      hooks: { Stop: [{ hooks: [theirs] }], SessionEnd: [{ hooks: [theirs] }] },
    })
  })

  test('with a duplicate key are edited at the key that counts', () => {
    const text = '{"hooks":{"Stop":[]},"hooks":{"Stop":[{"hooks":[]}]}}'
    expect(areHooksCurrent(JSON.parse(add(text)), groups)).toBe(true)
  })

  test.each<[string, (hook: Record<string, unknown>, group: Record<string, unknown>) => void]>([
    ['another timeout', (hook) => (hook.timeout = 60)],
    ['an older command', (hook) => (hook.command = `${String(hook.command)} # older`)],
    ['another matcher', (_, group) => (group.matcher = 'Bash')],
  ])('with %s are not current', (_, change) => {
    const settings = JSON.parse(add('{}'))
    change(settings.hooks.Stop[0].hooks[0], settings.hooks.Stop[0])
    expect(areHooksCurrent(settings, groups)).toBe(false)
  })

  test('tell our status line from a foreign one', () => {
    expect(statusLineOwner({})).toBe('none')
    expect(statusLineOwner({ statusLine: STATUS_LINE })).toBe('ours')
    expect(statusLineOwner({ statusLine: { ...STATUS_LINE, padding: 0 } })).toBe('outdated')
    for (const statusLine of [null, 'x', { type: 'command', command: 'date' }]) {
      expect(statusLineOwner({ statusLine })).toBe('theirs')
    }
  })

  const hook = fc.record({ type: fc.constant('command'), command: fc.string() })
  const list = fc.array(fc.record({ hooks: fc.array(hook, { maxLength: 2 }) }), { maxLength: 2 })
  const anySettings = fc.record(
    {
      model: fc.jsonValue(),
      hooks: fc.dictionary(fc.constantFrom('Stop', 'PreToolUse', 'SessionEnd'), list),
      env: fc.jsonValue(),
    },
    { requiredKeys: [] },
  )
  const anyIndent = fc.constantFrom('', ' ', '  ', '\t', '    ')

  test('of any kind keep every byte, and mean the same after ours are removed', () => {
    fc.assert(
      fc.property(
        anySettings,
        anyIndent,
        fc.constantFrom('', '\n', '\r\n'),
        (settings, indent, end) => {
          const text =
            JSON.stringify(settings, undefined, indent).replaceAll(
              '\n',
              end === '\r\n' ? end : '\n',
            ) + end
          const after = add(text)
          expect(isKeptIn(text, after)).toBe(true)
          expect(areHooksCurrent(JSON.parse(after), groups)).toBe(true)
          const rest = removeFromSettings(after, existingContainers(text))
          expect(JSON.parse(rest)).toEqual(JSON.parse(text))
        },
      ),
    )
  })
})
