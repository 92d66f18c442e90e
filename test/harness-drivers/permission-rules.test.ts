import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { PermissionRequest } from '../../src/harness/contract.ts'
import { isAllowedCommand, isPermitted } from '../../src/harness/permission-rules.ts'
import { scratchFolder } from '../support/scratch.ts'

const ALLOW = ['npm test', 'stint']

describe('under `edits`', () => {
  test.each([
    'git commit -m "a; b" && git log --oneline | head -5',
    'npm test',
    'npm test -- --run',
    'npm test:unit',
    'npm test 2>&1 | tail -20',
    'npm test > /dev/null 2>&1; echo $?',
    'cd packages/a && npm test',
    '(cd packages/a && npm test)',
    "stint task done sweep --summary 'It is done > all of it $(really) `yes`'",
    'ls -la; cat readme.txt',
    'rg --files | grep test | sort | uniq -c',
    "sed -n '1,200p' src/index.ts",
    'sed -n 5p a.txt',
    "find . -name '*.ts' -not -path './node_modules/*'",
    'command -v node',
    'git status # and nothing else, isn’t it',
    "git status # it's\ngit diff # that's all",
    'git log -- a#b "#c"',
    'git status\ngit diff',
  ])('runs %j', (command) => {
    expect(isAllowedCommand(command, ALLOW)).toBe(true)
  })

  test.each([
    '',
    '   ',
    'rm -rf build',
    'npm install left-pad',
    'npm run test',
    'npm',
    'stint-something',
    './stint',
    'gitleaks detect',
    'git status && rm -rf build',
    'git status; rm -rf build',
    'git status | sh',
    'git status &\nrm x',
    'git log $(rm x)',
    'git log "$(rm x)"',
    'git log `rm x`',
    "git log $'\\'' ; rm x; echo '$'",
    'git log <(rm x)',
    'git log > notes.txt',
    'git log > /dev/null/../../etc/x',
    'git log > /dev/null"x"',
    'echo x >> .bashrc',
    'cat < ../secret | sh',
    "git log '",
    "git status #'\necho x > .bashrc #'",
    "git status #'\ngit log $(rm x) #'",
    'git status #"\nrm x #"',
    'git log\u00A0#; rm x',
    'git\u2028log',
    'X=1 git status',
    'env git status',
    'sudo git status',
    'bash -c "git status"',
    'eval git status',
    'for f in *; do git rm $f; done',
    'while read f; do rm $f; done',
    "sed -i 's/a/b/' a.txt",
    "sed -n '1w out.txt' a.txt",
    'sed -n -e p -i a.txt',
    'sort -o a.txt a.txt',
    'sort -uo a.txt a.txt',
    'uniq a.txt b.txt',
    "find . -name '*.ts' -delete",
    'find . -exec rm {} +',
    'rg --pre ./evil x',
    './ls',
    '/tmp/cat a',
    'command rm x',
    'git status\u0000; rm x',
    'git status\r',
    `git log ${'x'.repeat(40_000)}`,
  ])('asks before %j', (command) => {
    expect(isAllowedCommand(command, ALLOW)).toBe(false)
  })

  test.each([[['']], [['  ']]])('allows nothing more for an empty beginning: %j', (allow) => {
    expect(isAllowedCommand('rm x', allow)).toBe(false)
  })

  test('files of the project are edited, and no others', async () => {
    const root = scratchFolder()
    const cwd = join(root, 'project')
    mkdirSync(join(cwd, 'src'), { recursive: true })
    writeFileSync(join(root, 'outside.txt'), '')
    symlinkSync(root, join(cwd, 'link'))
    const permitted = (path: string) =>
      isPermitted({ tool: 'apply_patch', title: 'edit', path }, { permissions: 'edits', allow: [], cwd })
    for (const path of ['a.txt', 'src/new/b.txt', join(cwd, 'c.txt'), '.github/x.yml'])
      expect([path, await permitted(path)]).toEqual([path, true])
    for (const path of [
      '../outside.txt',
      join(root, 'outside.txt'),
      'link/outside.txt',
      'link/new.txt',
      '.git/hooks/x',
      '.',
      '/etc/x',
    ])
      expect([path, await permitted(path)]).toEqual([path, false])
  })
})

describe('what the rules do not allow', () => {
  const request: PermissionRequest = { tool: 'exec_command', title: 'run git status', command: 'git status' }
  const other: PermissionRequest = { tool: 'exec_command', title: 'run make', command: 'make' }
  const rules = { allow: [], cwd: '/nowhere' }

  test('is refused where there is nobody to ask', async () => {
    expect(await isPermitted(other, { ...rules, permissions: 'edits' })).toBe(false)
    expect(await isPermitted(request, { ...rules, permissions: 'ask' })).toBe(false)
    expect(await isPermitted({ tool: 'github', title: 'search' }, { ...rules, permissions: 'edits' })).toBe(false)
  })

  test('is as the person decides, who is asked about nothing else', async () => {
    const asked: string[] = []
    const decide = async ({ title }: PermissionRequest) => asked.push(title) > 0
    expect(await isPermitted(request, { ...rules, permissions: 'edits', decide })).toBe(true)
    expect(await isPermitted(other, { ...rules, permissions: 'all', decide })).toBe(true)
    expect(asked).toEqual([])
    expect(await isPermitted(other, { ...rules, permissions: 'edits', decide })).toBe(true)
    expect(await isPermitted(request, { ...rules, permissions: 'ask', decide })).toBe(true)
    expect(asked).toEqual(['run make', 'run git status'])
  })
})
