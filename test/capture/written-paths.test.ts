import { describe, expect, test } from 'vitest'
import { commitMessageFrom } from '../../src/command/commit-message.ts'
import { observeCommand } from '../../src/command/observe-command.ts'

const cwd = '/home/me/shop'
const observe = (command: string, output = '') =>
  observeCommand({ command, output, isError: false, cwd }, [])
const failing = (command: string) => observeCommand({ command, output: '', isError: true, cwd }, [])

describe('the paths are known that are written by', () => {
  test.each([
    ['node a.mjs > out/a.csv', ['out/a.csv']],
    ['node a.mjs >> out/a.csv 2>&1', ['out/a.csv']],
    ['mkdir -p out && node a.mjs > out/a.csv && wc -l < out/a.csv', ['out/a.csv']],
    ['npm test 2>&1 | tee reports/run.txt', ['reports/run.txt']],
    ['cd docs && touch a.md', ['docs/a.md']],
    ['(cd docs && touch a.md); touch b.md', ['docs/a.md', 'b.md']],
    ['cat > src/a.ts <<EOF\nconst a = 1\necho > b.ts\nEOF', ['src/a.ts']],
    [`perl -pi -e 's/a/b/' src/a.ts`, ['src/a.ts']],
    ['cp a.txt b.txt', ['b.txt']],
    ['cp a.txt b.txt lib/', ['lib/a.txt', 'lib/b.txt']],
    ['git mv a.js lib/a.js', ['lib/a.js']],
    ['dd if=a of=b.img', ['b.img']],
    ['install -m 755 a bin/a', ['bin/a']],
    ['curl -sLo data/a.json https://x.example/a', ['data/a.json']],
    [`bash -c 'cd web && touch a'`, ['web/a']],
    [`touch ${cwd}/abs.txt`, ['abs.txt']],
    ['node a.mjs > /dev/null', []],
    ['node a.mjs > /tmp/a.txt', []],
    ['touch ../other/a', []],
    ['touch "$HOME/a" *.md $(ls)', []],
    ['cd "$DIR" && touch a', []],
    [`sed 's/a/b/' a.txt`, []],
    [`echo 'a > b.txt'`, []],
    ['node a.mjs < in.txt', []],
  ])('%s', (command, paths) => {
    expect(observe(command).written.map(({ path }) => path)).toEqual(paths)
  })

  test('patches, as far as they are printed', () => {
    const stat = ' src/hooks/backoff.js | 2 +-\n 1 file changed'
    expect(observe('git apply -p2 a.patch && git diff --stat', stat).written).toEqual([
      { path: 'src/hooks/backoff.js' },
    ])
    expect(observe('patch -p1 < a.patch', 'patching file src/a.c').written).toEqual([
      { path: 'src/a.c' },
    ])
    expect(observe('git apply a.patch').written).toEqual([])
  })

  test('nothing that failed', () => {
    expect(failing('node a.mjs > out/a.csv').written).toEqual([])
  })

  test.each([
    [`sed -i 's/"timeoutMs": 5000/"timeoutMs": 9000/' config/hooks.json`, '"timeoutMs": 9000'],
    [`sed -i -e 's|a/b|c/d is|g' config/a`, 'c/d is'],
    [`sed -i 's/80/75/' config/limits.json`, '80 → 75'],
    [`sed -i '/createHash/d' src/keys.mjs`, undefined],
    [`printf '{ "weight": 3 }\\n' > config/canary.json`, '{ "weight": 3 }'],
    [`echo "$VALUE" > config/canary.json`, undefined],
  ])('%s, with the change', (command, change) => {
    expect(observe(command).written[0]?.change).toBe(change)
  })

  test('a move also removes', () => {
    expect(observe('git mv a.js b.js && rm c.js').removed).toEqual(['a.js', 'c.js'])
  })
})

describe('the message of a commit is read from', () => {
  test.each([
    [`git commit -m 'Subject' -m 'Body.'`, { subject: 'Subject', body: 'Body.' }],
    [`git add -A && git commit -qam "Subject"`, { subject: 'Subject' }],
    [
      `git commit -F - <<'EOF'\nSubject\n\nBody with\ntwo lines.\nEOF`,
      { subject: 'Subject', body: 'Body with two lines.' },
    ],
    [
      `git commit -m "$(cat <<'EOF'\nSubject\n\nSays "no".\n\nCo-Authored-By: A <a@b.c>\nEOF\n)"`,
      { subject: 'Subject', body: 'Says "no".' },
    ],
    [`git commit --amend -m 'Subject'`, { subject: 'Subject', isAmend: true }],
    [`git -C web commit --message='Subject'`, { subject: 'Subject' }],
    [`git commit -m "$MESSAGE"`, { subject: '$MESSAGE' }],
    ['git log --grep=commit', undefined],
    [`git commit --dry-run -m 'Subject'`, undefined],
    ['echo git commit -m x', undefined],
  ])('%s', (command, message) => {
    expect(commitMessageFrom(command, '')).toEqual(message)
  })

  test('the output, if the command has none', () => {
    const output =
      '[main fdaff7c] Subject\n 1 file changed, 1 insertion(+)\n create mode 100644 a.js'
    expect(commitMessageFrom('git commit -F message.txt', output)).toEqual({
      subject: 'Subject',
      created: ['a.js'],
    })
  })

  test('a long body is cut', () => {
    expect(
      commitMessageFrom(`git commit -m S -m '${'word '.repeat(200)}'`, '')?.body?.length,
    ).toBeLessThanOrEqual(400)
  })
})
