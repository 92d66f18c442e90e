import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { PermissionRequest } from '../../src/harness/contract/drive.ts'
import { isAllowedCommand, isPermitted } from '../../src/harness/contract/permission-rules.ts'
import { AGENT_COMMANDS } from '../../src/run/attempt/run-context.ts'
import { scratchFolder } from '../support/scratch.ts'

const ALLOW = ['npm test', ...AGENT_COMMANDS]

/** How agents pass several lines to git. */
function message(...lines: readonly string[]): string {
  return `"$(cat <<'EOF'\n${lines.join('\n')}\nEOF\n)"`
}

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
    `git add -A && git commit -m ${message('A subject', '', 'It\'s why: `touch x` $(touch y) "so" :)')} && git status`,
    `stint task done sweep --summary ${message('one', 'two')}`,
    'git commit -m "$(cat <<-\'EOF\'\n\tone\n\tEOF\n)"',
    'git commit -m "$(cat <<"END"\none\nEND\n)"',
    'git -c user.name=A -c user.email=a@b -c commit.gpgsign=false commit -qm x',
    'git -c core.editor=true rebase --continue',
    'git --no-pager -C packages/a log --oneline -5',
    'git config get user.name',
    'git config list --show-origin',
    'git stash list',
    'git stash show -p stash@{0}',
    'git config --get remote.origin.url',
    'git config --global --list',
    'git config core.hooksPath',
    'git remote -v',
    'git remote get-url origin',
    'git worktree list',
    'git submodule update --init --recursive',
    'git bisect start HEAD v1',
    'git grep -n -e foo',
    'git show HEAD@{1} --stat',
    'git add src/{a,b}.ts *.md',
    'git diff $BASE..HEAD -- "$file"',
    'git cherry-pick -x abc',
    'git --version',
    'echo "--- exit: $?"; echo "${PIPESTATUS[0]}"',
    '[ -f "$file" ] && printf "%s\\n" yes',
    'stint log --decision a --rationale b',
    'stint digest show 1a2b --grep timeout',
  ])('the agent may run %j', (command) => {
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
    'git commit -m "$(cat <<EOF\n`rm x`\nEOF\n)"',
    `git commit -m ${message('one', 'EOF', 'rm x', "cat <<'EOF'", 'two')}`,
    `git commit -m ${message('one', 'EOF)"; rm x; echo "')}`,
    `git commit -m ${message('one', 'EOF', ')"; rm x; echo "$(', "cat <<'EOF'")}`,
    `git commit -m "$(cat <<'EOF'\none\n\tEOF\n)"`,
    `git commit -m "$(cat <<'EOF'\none\nEOF\n); rm x"`,
    `git commit -m ${message('one')}$(rm x)`,
    message('rm', 'x'),
    'stint',
    'stint run --permissions all',
    'stint digest -- touch x',
    'stint digest run touch x',
    'stint digest sh -c "touch x"',
    'stint plan --harness "acp:touch x"',
    'stint rehearsal',
    'stint setup claude --user',
    'stint purge x',
    'stint export --output ../x',
    'STINT_RUN= stint task done one',
    'env -u STINT_RUN stint task done one',
    'git -c core.hooksPath=/tmp/h commit -m x',
    'git -c core.editor=./evil commit',
    'git --config-env=core.pager=X log',
    'git --exec-path=. log',
    'git --exec-path . log',
    'git --git-dir=evil status',
    'git push',
    'git -C . push origin HEAD',
    'git remote add x y',
    'git remote -v set-url origin y',
    'git config user.email a@b',
    'git config --local user.name A',
    'git config set user.name A',
    'git config --global user.name x',
    'git config --system user.name x',
    'git config -f ../x user.name y',
    'git config core.hooksPath .hooks',
    'git config --add alias.x y',
    'git config set alias.x y',
    'git config --edit',
    'git config edit',
    'git config unset user.name',
    'git config remove-section user',
    'git config $SETTING',
    'git config $SECTION.name',
    'git config --unset user.name',
    'git stash',
    'git stash -q',
    'git stash push -m list',
    'git stash save show',
    'git stash pop',
    'git stash apply',
    'git stash branch mine',
    'git stash create',
    'git stash store HEAD',
    'git stash drop',
    'git stash clear',
    'git stash import HEAD',
    'git stash $VERB',
    "git filter-branch --tree-filter 'rm x'",
    'git bisect run ./evil',
    'git submodule --quiet foreach ./evil',
    'git difftool -yx ./evil',
    'git mergetool',
    'git hook run pre-commit',
    'git worktree add ../x',
    'git worktree remove ../x',
    'git init --template=evil',
    'git clone . ../x',
    'git credential fill',
    'git maintenance start',
    'git lfs push',
    'git archive -o ../x HEAD',
    'git format-patch -o ../x HEAD~1',
    'git fetch "ext::sh -c ./evil"',
    'git rebase -ix ./evil HEAD~1',
    'sort --comp=./evil a',
    'uniq -- -a b',
    'printf -v PATH ./evil',
    "[ 'a[$(touch x)]' -eq 1 ]",
    `git log ${'x'.repeat(40_000)}`,
  ])('the user is asked before %j', (command) => {
    expect(isAllowedCommand(command, ALLOW)).toBe(false)
  })

  test.each([
    'npm run lint && npm test',
    'cd web && npm test',
    'CI=1 npm test',
    'node -e "process.exit(0)"',
    'test -f a.txt > out.log',
    'for f in *.sh; do sh -n "$f"; done',
    'make check\nmake lint',
    'X=$(mktemp) && ./check "$X"',
  ])('the agent may run %j where exactly that is allowed, and nothing around it', (verify) => {
    const allow = [` ${verify}\n`]
    for (const line of [
      verify,
      `${verify}\n`,
      `${verify} 2>&1`,
      `${verify} 2>&1 | tail -40`,
      `${verify} | head -n 5`,
    ])
      expect([line, isAllowedCommand(line, allow)]).toEqual([line, true])
    for (const line of [
      `${verify}; rm x`,
      `rm x; ${verify}`,
      `${verify} | sh`,
      `${verify} 2>&1 | tail -5 > x`,
      `${verify}x | tail5`,
    ])
      expect([line, isAllowedCommand(line, allow)]).toEqual([line, false])
  })

  test('a command that only begins like an allowed quotation is not allowed', () => {
    expect(isAllowedCommand('node -e "f(); g()"', ['node -e "f()"'])).toBe(false)
    expect(isAllowedCommand(`node -e '"f()"; g()'`, ['node -e "f()"'])).toBe(false)
  })

  test('the user can allow what git may not do by default', () => {
    expect(isAllowedCommand('git push origin HEAD', ['git push'])).toBe(true)
    expect(isAllowedCommand('git lfs pull', ['git lfs'])).toBe(true)
  })

  test.each([[['']], [['  ']]])('an empty allowed prefix allows nothing more: %j', (allow) => {
    expect(isAllowedCommand('rm x', allow)).toBe(false)
  })

  test('the agent may edit files of the project, and no others', async () => {
    const root = scratchFolder()
    const cwd = join(root, 'project')
    mkdirSync(join(cwd, 'src'), { recursive: true })
    writeFileSync(join(root, 'outside.txt'), '')
    symlinkSync(root, join(cwd, 'link'))
    const permitted = (path: string) =>
      isPermitted(
        { tool: 'apply_patch', title: 'edit', path },
        { permissions: 'edits', allow: [], cwd },
      )
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

describe('files that hold permissions and records', () => {
  const project = () => {
    const cwd = join(scratchFolder(), 'project')
    mkdirSync(join(cwd, '.sessions'), { recursive: true })
    mkdirSync(join(cwd, 'src'))
    symlinkSync('.sessions', join(cwd, 'link'))
    return { permissions: 'edits', allow: ['npm test'], cwd } as const
  }

  test('cannot be edited under `edits`, under any name', async () => {
    const rules = project()
    const permitted = (path: string) => isPermitted({ tool: 'write', title: 'write', path }, rules)
    for (const path of [
      '.sessions/config.yaml',
      join(rules.cwd, '.sessions/config.yaml'),
      './src/../.sessions/new/x.jsonl',
      '.Sessions/config.yaml',
      'link/config.yaml',
      '.sessions',
      '.claude/settings.json',
      '.claude/settings.local.json',
      'packages/a/.claude/settings.json',
      '.codex/config.toml',
      '.mcp.json',
      '.GIT/hooks/x',
    ])
      expect([path, await permitted(path)]).toEqual([path, false])
    for (const path of [
      '.tasks/one.md',
      'src/.sessions.ts',
      'sessions/a',
      '.claudeignore',
      'src/mcp.json',
    ])
      expect([path, await permitted(path)]).toEqual([path, true])
  })

  test('can be read and committed, but not changed by a command', async () => {
    const rules = project()
    const permitted = (command: string) =>
      isPermitted({ tool: 'shell', title: command, command }, rules)
    for (const command of [
      'git mv src/a .sessions/config.yaml',
      'git mv src/a .sessions',
      'git mv src/a link/config.yaml',
      'git mv src/a link',
      'git checkout HEAD~1 -- .claude/settings.json',
      'git checkout HEAD~1 -- :/.Sessions',
      'git restore --source=HEAD~1 ":(top).mcp.json"',
      'git rm -r .codex',
      'git apply --directory=.sessions a.patch',
      'cd .sessions && git mv a config.yaml',
      'cd link && npm test',
    ])
      expect([command, await permitted(command)]).toEqual([command, false])
    for (const command of [
      'cat .sessions/config.yaml',
      'cd .sessions && ls',
      'git add .sessions .claude',
      'git diff -- .mcp.json',
      'git mv src/a src/b',
      'git rm -r src/c',
      'npm test',
    ])
      expect([command, await permitted(command)]).toEqual([command, true])
  })
})

describe('a request that the rules do not allow', () => {
  const request: PermissionRequest = {
    tool: 'exec_command',
    title: 'run git status',
    command: 'git status',
  }
  const other: PermissionRequest = { tool: 'exec_command', title: 'run make', command: 'make' }
  const rules = { allow: [], cwd: '/nowhere' }

  test('is refused where no user is present', async () => {
    expect(await isPermitted(other, { ...rules, permissions: 'edits' })).toBe(false)
    expect(await isPermitted(request, { ...rules, permissions: 'ask' })).toBe(false)
    expect(
      await isPermitted({ tool: 'github', title: 'search' }, { ...rules, permissions: 'edits' }),
    ).toBe(false)
  })

  test('is decided by the user, who has to decide nothing else', async () => {
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
