import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isAllowedCommand } from '../../src/harness/contract/permission-rules.ts'
import { scratchFolder } from '../support/scratch.ts'

const HERE = "\"$(cat <<'EOF'\n"
const END = '\nEOF\n)"'

// Each looks like an allowed command, and creates a file called `sneaked`.
const SNEAKING = {
  'a command between two messages': `git commit --allow-empty -m ${HERE}one\nEOF\ntouch sneaked\ncat <<'EOF'\ntwo${END}`,
  'a message that begins inside a quotation': `echo 'x ${HERE}'; touch sneaked; echo '${END}'`,
  'a message that begins in what is no comment': `echo \\ #'\necho ${HERE}'; touch sneaked; echo '${END} '`,
  'an option as a message': `git rebase ${HERE}--exec=touch sneaked${END} HEAD~1`,
  'an option': "git rebase --exec 'touch sneaked' HEAD~1",
  'a short option': "git rebase -x 'touch sneaked' HEAD~1",
  'the beginning of an option': "git rebase --exe='touch sneaked' HEAD~1",
  'an option behind nothing': "git rebase $NOTHING--exec='touch sneaked' HEAD~1",
  'an option around nothing': "git rebase --ex${NOTHING}ec='touch sneaked' HEAD~1",
  'an option behind quoted nothing': 'git rebase "$NOTHING"--exec=\'touch sneaked\' HEAD~1',
  'an option in braces': "git rebase {--exec='touch sneaked',HEAD~1}",
  'an option that ends in braces': "git rebase '--ex'{ec,ec}='touch sneaked' HEAD~1",
  'an option over two lines': 'git rebase "--ex\\\nec=touch sneaked" HEAD~1',
  'an alias': "git -c alias.x='!touch sneaked' x",
  'an alias for later': "git config alias.x '!touch sneaked' && git x",
  'a setting that is a program': "git -c core.fsmonitor='touch sneaked; false' status",
  'a pager of git grep': "git grep -lO'touch sneaked; true' a",
  'the other side of a connection':
    "git ls-remote --upload-pack='touch sneaked; git-upload-pack' .",
  'a file of git log': 'git log --output=sneaked',
  'a bisection': 'git bisect start HEAD HEAD~1 && git bisect run touch sneaked',
  'a text that is assigned and run': 'echo ${x:=\'$(touch sneaked)\'} "${x@P}"',
  'the name of a variable that is tested': "test -v 'a[$(touch sneaked)]'",
  'the name of a variable that is printed to': "printf -v 'a[$(touch sneaked)]' x",
  'a sum': "echo $['b[$(touch sneaked)]']",
  'the second file of uniq': 'echo a | uniq - sneaked',
  'an option of find behind nothing': 'find . $NOTHING-fprint sneaked',
  'an option of find in braces': 'find . {-fprint,sneaked}',
}

function project(): string {
  const cwd = scratchFolder()
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd, stdio: 'pipe' })
  git('init', '-q')
  git('config', 'user.name', 'A')
  git('config', 'user.email', 'a@b')
  for (const text of ['a', 'aa', 'aaa']) {
    writeFileSync(join(cwd, 'a.txt'), text)
    git('add', '-A')
    git('commit', '-qm', text)
  }
  return cwd
}

describe.runIf(existsSync('/bin/bash'))('under `edits` nothing can be smuggled into', () => {
  test.each(Object.entries(SNEAKING))('%s', (_, line) => {
    const cwd = project()
    spawnSync('/bin/bash', ['-c', line], { cwd, stdio: 'pipe' })
    // Otherwise the refusal would prove nothing.
    expect(existsSync(join(cwd, 'sneaked'))).toBe(true)
    expect(isAllowedCommand(line, [])).toBe(false)
  })
})
