// Under `edits` an agent in its own worktree may change that worktree and its branch. Each line is
// also run, to show that a refused one reaches further and an allowed one does not.
import { spawnSync } from 'node:child_process'
import { readFileSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ConversationOptions } from '../../src/harness/contract/drive.ts'
import { isUsePermitted } from '../../src/harness/acp/drive/conversation.ts'
import { mergeToolUse } from '../../src/harness/acp/drive/translator.ts'
import { parseApprovalRequest } from '../../src/harness/codex/drive/translator.ts'
import { respondToToolRequest } from '../../src/harness/claude/drive/translator.ts'
import { isPermitted } from '../../src/harness/contract/permission-rules.ts'
import { gitProject } from '../support/project.ts'
import { git, scratchFolder } from '../support/scratch.ts'

const REACHING = {
  'a commit in the checkout, by -C': 'git -C MAIN commit --allow-empty -qm x',
  'a commit in the checkout, by several -C': 'git -C MAIN -C . commit --allow-empty -qm x',
  'a commit in the checkout, by cd': 'cd MAIN && git commit --allow-empty -qm x',
  'a commit in the checkout, by cd in brackets': '(cd MAIN; git commit --allow-empty -qm x)',
  'a commit in the checkout, by cd in two steps':
    'cd src; cd ../link/.. && cd MAIN && git commit --allow-empty -qm x',
  'a commit in the checkout, by cd behind a link': 'cd link && git commit --allow-empty -qm x',
  'a commit in the checkout, by a folder that is not known':
    'cd "$MAIN_FOLDER" && git commit --allow-empty -qm x',
  'a commit in the checkout, by -C that is not known':
    'git -C "$MAIN_FOLDER" commit --allow-empty -qm x',
  'a commit in the checkout, by cd that is left again':
    'cd src && cd .. && cd MAIN; cd nowhere; git commit --allow-empty -qm x',
  'a commit in the checkout, by cd back that is not come to':
    'cd MAIN; true || cd TREE && git commit --allow-empty -qm x',
  'a commit in the checkout, by cd back that failed':
    'cd MAIN; ! cd TREE/nowhere && git commit --allow-empty -qm x',
  'a commit in the checkout, by cd back in brackets':
    'cd MAIN; (cd TREE && true) && git commit --allow-empty -qm x',
  'a commit in the checkout, by cd back that failed before':
    'cd MAIN; cd TREE/nowhere && true; git commit --allow-empty -qm x',
  'a commit in the checkout, by cd back in a pipe':
    'cd MAIN; cd TREE | true; git commit --allow-empty -qm x',
  'files of the checkout': 'git -C MAIN rm -qf a.txt',
  'files of the checkout that are not committed': 'git -C MAIN checkout -- .',
  'files of the checkout that git does not know': 'cd MAIN && git clean -fdq',
  'an allowed command in the checkout': 'cd MAIN && npm test',
  'another branch, by branch -f': 'git branch -f other HEAD',
  'another branch, by branch --for': 'git branch other --forc HEAD',
  'another branch, by branch -D': 'git branch -D other',
  'another branch, by branch -M': 'git branch -M other renamed',
  'another branch, by checkout -B': 'git checkout -qB other',
  'another branch, by switch -C': 'git switch -qC other',
  'another branch, by switch --force-create': 'git switch -q --force-create other',
  'another branch, by checkout': 'git checkout -q other && git commit --allow-empty -qm x',
  'another branch, by checkout with --':
    'git checkout -q other -- && git commit --allow-empty -qm x',
  'another branch, by checkout with an option that has a value':
    'git checkout -q --conflict diff3 other && git commit --allow-empty -qm x',
  'another branch, by checkout of what is not known':
    'git checkout -q $OTHER && git commit --allow-empty -qm x',
  'another branch, by switch': 'git switch -q other && git commit --allow-empty -qm x',
  'another branch, by bisect':
    'git bisect start -q HEAD HEAD~1 && git bisect reset other && git commit --allow-empty -qm x',
  'the branch of the checkout':
    'git checkout -q --ignore-other-worktrees main && git commit --allow-empty -qm x',
  'the branch of the checkout, by symbolic-ref':
    'git symbolic-ref HEAD refs/heads/main && git commit --allow-empty -qm x',
  'the branch of the checkout, by update-ref': 'git update-ref refs/heads/main HEAD',
  'the branch of the checkout, by fetch': 'git fetch -qu . HEAD:main',
  'another branch, by fetch': 'git fetch -q . +HEAD:other',
  'another branch, by fetch with an option that has a value':
    'git fetch -q --depth 9 . +HEAD:other',
  'another branch, by fetch of what is not known': 'git fetch -q . $INTO_OTHER',
  'another branch, by fetch --refmap':
    'git fetch -q . --refmap=+refs/heads/work:refs/heads/other refs/heads/work',
  'another branch, by pull': 'git pull -q . +HEAD:other',
  'another branch, by rebase': 'git rebase -q HEAD other',
  'another branch, by rebase --onto': 'git rebase -q --onto HEAD other~1 other',
  'another branch, by rebase --root': 'git rebase -q --root --onto HEAD other',
  'other branches, by rebase --update-refs': 'git rebase -q --update-refs --onto other HEAD~3',
  'a tag': 'git tag -f fixed HEAD',
  'a tag that is there no more': 'git tag -d fixed',
  'stashes of all worktrees': 'git stash clear',
  'a stash of another worktree': 'git stash drop -q',
  'a stash of another worktree, by pop': 'git stash pop -q',
  'a stash of another worktree, by branch': 'git stash branch mine',
  'who commits in all worktrees': 'git config user.name Robot',
  'who commits in all worktrees, by its section': 'git config --remove-section user',
} as const

const STAYING = [
  'git add -A && git commit --allow-empty -qm x',
  'cd TREE && git commit --allow-empty -qm x',
  'cd src && cd .. && git commit --allow-empty -qm x',
  '(cd src && npm test); npm test',
  'cd MAIN && cd TREE && git commit --allow-empty -qm x',
  'cd MAIN && ls && cd TREE/src && git commit --allow-empty -qm x && npm test',
  'git -C src commit --allow-empty -qm x',
  'git -C TREE/src log --oneline',
  'git -C MAIN log --oneline && git -C MAIN status --short && git -C MAIN diff main other --stat',
  'cd MAIN && git show other:b.txt && cat a.txt && ls',
  'git -C "$MAIN_FOLDER" rev-parse HEAD',
  'git branch --list && git branch -vv --sort=-committerdate --format="%(refname)" && git branch --show-current',
  'git branch backup && git branch -a --contains HEAD',
  'git checkout -- a.txt && git checkout HEAD~1 -- a.txt && git checkout other -- b.txt && git checkout main a.txt',
  'git checkout a.txt && git checkout . && git checkout --force',
  'git checkout -q HEAD~1 && git checkout -q -',
  'git checkout -q --detach other && git checkout -q work',
  'git switch -q --detach main && git switch -q work && git switch -q -c another main',
  'git checkout -q -b mine && git commit --allow-empty -qm x && git checkout -q work && git merge -q mine',
  'git merge -q other -m merged',
  'git rebase -q main',
  'git rebase -q main work',
  'git rebase -q --onto other main',
  'git pull -q --no-rebase . other && git fetch -q . other',
  'git cherry-pick other && git revert --no-edit HEAD && git reset -q --hard HEAD~1',
  'git stash list && git stash show -p',
  'git config user.name && git config --list && git -c user.name=Robot commit --allow-empty -qm x',
  'git tag mine && git tag -a -m fixed annotated && git tag -l',
  'git symbolic-ref --short HEAD',
  'git bisect start -q HEAD HEAD~1 && git bisect reset',
  'git worktree list && git remote -v && git reflog -3',
  'git clean -fdq && git restore . && git rm -q a.txt',
]

/**
 * A checkout on main with uncommitted changes, branches, a tag and a stash, and an agent's worktree
 * on `work`.
 */
function worktrees() {
  const main = gitProject()
  main.commit('second', { 'a.txt': 'two\n' })
  main.git('tag', 'fixed')
  main.git('branch', 'work')
  main.git('checkout', '-q', '-b', 'other')
  main.commit('on other', { 'b.txt': 'b\n' })
  main.git('checkout', '-q', 'main')
  main.write('a.txt', 'stashed\n')
  main.git('stash', '-q')
  main.write('a.txt', 'somebody works on this\n')
  main.write('new.txt', 'and on this\n')
  const tree = join(scratchFolder(), 'tree')
  main.git('worktree', 'add', '-q', tree, 'work')
  for (const name of ['one', 'two', 'three']) commitIn(tree, name)
  git(tree, 'branch', 'below', 'HEAD~1')
  symlinkSync(main.root, join(tree, 'link'))
  symlinkSync(scratchFolder(), join(tree, 'src-link'))
  return { main: main.root, tree }
}

function commitIn(tree: string, name: string): void {
  spawnSync(
    'sh',
    [
      '-c',
      `mkdir -p src && echo ${name} > src/${name}.txt && echo link >> .gitignore && echo src-link >> .gitignore`,
    ],
    { cwd: tree },
  )
  git(tree, 'add', '--all')
  git(tree, 'commit', '-q', '-m', name)
}

/** Everything that is not the agent's: the files, and where all earlier refs point. */
function others(main: string, before?: readonly string[]): readonly string[] {
  const refs = git(main, 'for-each-ref', '--format=%(refname) %(objectname)')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('refs/heads/work '))
  const stashes = git(main, 'stash', 'list', '--format=%H').split('\n')
  const files = readdirSync(main)
    .filter((name) => name !== '.git')
    .map((name) => `${name}: ${readFileSync(join(main, name), 'utf8')}`)
  const settings = git(main, 'config', '--local', '--list').split('\n')
  const now = [
    ...refs,
    ...stashes,
    ...settings,
    ...files,
    git(main, 'rev-parse', 'HEAD', '--abbrev-ref', 'HEAD'),
  ]
  // New refs belong to the agent.
  return before === undefined ? now : before.filter((line) => now.includes(line))
}

const filled = (line: string, { main, tree }: { main: string; tree: string }) =>
  line.replaceAll('MAIN_FOLDER', 'FOLDER').replaceAll('MAIN', main).replaceAll('TREE', tree)

const rulesFor = (tree: string): ConversationOptions => ({
  cwd: tree,
  env: {},
  branch: 'work',
  permissions: 'edits',
  allow: ['npm test'],
})

async function isAllowed(command: string, tree: string): Promise<boolean> {
  return isPermitted({ tool: 'Bash', title: 'run', command }, rulesFor(tree))
}

function run(line: string, { main, tree }: { main: string; tree: string }) {
  // `npm` here writes a file into the folder it is started in.
  const env = { ...process.env, FOLDER: main, OTHER: 'other', INTO_OTHER: '+HEAD:other' }
  return spawnSync('bash', ['-c', `npm() { echo tested > a.txt; }\n${line}`], {
    cwd: tree,
    env,
    encoding: 'utf8',
  })
}

describe('an agent in its own worktree', () => {
  test.each(Object.entries(REACHING))('cannot reach %s', async (_, line) => {
    const world = worktrees()
    const command = filled(line, world)
    expect(await isAllowed(command, world.tree)).toBe(false)
    const before = others(world.main)
    run(command, world)
    // Otherwise the refusal would prove nothing.
    expect(others(world.main, before)).not.toEqual(before)
  })

  test.each(STAYING)('may run %j', async (line) => {
    const world = worktrees()
    const command = filled(line, world)
    const before = others(world.main)
    // One by one, as an earlier command may create what a later one needs.
    for (const part of command.includes('cd ') ? [command] : command.split(' && ')) {
      expect([part, await isAllowed(part, world.tree)]).toEqual([part, true])
      const ran = run(part, world)
      expect([part, ran.status, ran.stderr]).toEqual([part, 0, expect.any(String)])
      expect(others(world.main, before)).toEqual(before)
    }
  })

  test('may only run read-only commands when the harness starts it outside the worktree', async () => {
    const { main, tree } = worktrees()
    const isAllowedIn = (command: string, cwd: string) =>
      isPermitted({ tool: 'Bash', title: 'run', command, cwd }, rulesFor(tree))
    expect(await isAllowedIn('git commit -qm x', main)).toBe(false)
    expect(await isAllowedIn('npm test', main)).toBe(false)
    expect(await isAllowedIn('git log', main)).toBe(true)
    expect(await isAllowedIn('git commit -qm x', join(tree, 'src'))).toBe(true)
    expect(await isAllowedIn('npm test', tree)).toBe(true)
  })

  test('is restricted to the folder that an ACP agent or Codex reports', async () => {
    const { main, tree } = worktrees()
    const allowed = (rawInput: object) =>
      isUsePermitted(mergeToolUse('1', { kind: 'execute', title: 'run', rawInput }), rulesFor(tree))
    for (const name of ['cwd', 'workdir', 'directory', 'dir_path']) {
      expect(await allowed({ command: 'git commit -qm x', [name]: main })).toBe(false)
      expect(await allowed({ command: 'git commit -qm x', [name]: tree })).toBe(true)
    }
    const asked = (cwd: string) =>
      parseApprovalRequest(
        'item/commandExecution/requestApproval',
        { command: "/bin/bash -lc 'git commit -qm x'", cwd },
        [],
      )!.requests[0]!
    expect(await isPermitted(asked(main), rulesFor(tree))).toBe(false)
    expect(await isPermitted(asked(tree), rulesFor(tree))).toBe(true)
  })

  test('gets the reason for a refusal that contradicts the allow list', async () => {
    const { main, tree } = worktrees()
    const respond = async (input: object) =>
      respondToToolRequest({ tool_name: 'Bash', input }, rulesFor(tree))
    expect(await respond({ command: `git -C ${main} commit -m x` })).toMatchObject({
      behavior: 'deny',
      message: expect.stringContaining(
        '(it may change what is not of this working tree and of its branch, work)',
      ),
    })
    expect(await respond({ file_path: join(main, 'a.txt') })).toMatchObject({
      message: expect.stringContaining('(only files of this working tree may be edited)'),
    })
    expect(await respond({ command: 'make' })).toMatchObject({
      message: expect.not.stringContaining('('),
    })
  })
})
