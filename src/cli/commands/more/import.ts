import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { importableHarnesses } from '../../../core.ts'
import type { ImportProgress, ImportReport } from '../../../library.ts'
import { defined } from '../../../text/defined.ts'
import { EXIT, UsageError } from '../../context/context.ts'
import { argument, dateFlag, toggle } from '../../context/flags.ts'
import { defineProjectCommand } from '../../context/command.ts'
import { byteSize } from '../../print/terminal/text.ts'
import { ProgressLine, progressBar } from '../../print/terminal/progress-line.ts'
import { plural } from '../../print/terminal/text.ts'

const MAX_UNREAD_SHOWN = 5

export const importCommand = defineProjectCommand({
  brief: 'Bring in what agents have said here before',
  about:
    'Stores the conversations that Claude Code, Codex, Gemini CLI and opencode have kept of this project, without the secrets in them. Again, it adds only what is new. It may be ended at any time and goes on from there.',
  usage: [
    ['', 'everything that was said in this project'],
    ['codex --since 2026-01-01', 'only conversations of Codex, and of this year'],
    ['all --all-projects', 'for every project that Stint was used in'],
    ['claude backup/projects', 'a folder of transcripts from elsewhere'],
    ['--dry-run', 'only say what there is'],
  ],
  args: argument(
    `One of ${importableHarnesses().join(', ')} or all, then files and folders`,
    'HARNESS|PATH',
  ),
  flags: {
    allProjects: toggle(
      'Into every project that Stint was used in on this machine, each what was said there',
    ),
    since: dateFlag('Only what was written since'),
    dryRun: toggle('Read and count, and store nothing'),
  },
  async run({ project, output, print, exit, context }, { allProjects, since, dryRun }, ...args) {
    const { harnesses, paths } = parseArguments(args, context.cwd)
    if (allProjects && paths.length > 0) {
      throw new UsageError(
        'files that are named go into this project',
        'leave --all-projects or the paths away',
      )
    }
    const line = ProgressLine.forContext(context)
    const report = await project.importHistories({
      paths,
      ...defined({ harnesses, since, allProjects, isDryRun: dryRun }),
      ...(line && { tell: showProgress(line) }),
    })
    line?.clear()
    const { unread } = report
    for (const { path, problem } of unread.slice(0, MAX_UNREAD_SHOWN))
      output.info(`${path} was not read: ${problem}`)
    if (unread.length > MAX_UNREAD_SHOWN)
      output.info(`and ${unread.length - MAX_UNREAD_SHOWN} more`)
    print(report, () => describeImport(report))
    if (unread.length > 0) exit(EXIT.failure)
  },
})

function parseArguments(args: readonly string[], cwd: string) {
  const [first, ...rest] = args
  const isName = first !== undefined && (first === 'all' || importableHarnesses().includes(first))
  const paths = isName ? rest : args
  for (const path of paths) {
    if (!existsSync(resolve(cwd, path))) {
      const hint =
        path === first
          ? `a harness is one of ${importableHarnesses().join(', ')} or all; anything else is a path`
          : 'see what it is called'
      throw new UsageError(`there is no file or folder ${path}`, hint)
    }
  }
  return { paths, harnesses: isName && first !== 'all' ? [first] : undefined }
}

function describeImport({
  isDryRun,
  conversations,
  upToDate,
  elsewhere,
  bytes,
  messages,
  damaged,
}: ImportReport): string {
  const newCount = conversations.filter(({ isNew }) => isNew).length
  const grownCount = conversations.length - newCount
  const counts = [
    newCount > 0 ? plural(newCount, 'conversation') : '',
    grownCount > 0 ? `more of ${plural(grownCount, 'conversation')}` : '',
  ]
  const newText = counts.filter((count) => count !== '').join(' and ')
  const amount = `${plural(messages, 'message')} (${byteSize(bytes)} read)`
  const headline =
    newText === ''
      ? 'Nothing new.'
      : `${isDryRun ? 'There are' : 'Imported'} ${newText}: ${amount}.`
  const byHarness = importableHarnesses().flatMap((name) => {
    const own = conversations.filter(({ harness }) => harness === name)
    return own.length === 0 ? [] : [`  ${name}: ${plural(own.length, 'conversation')}`]
  })
  const notes = [
    upToDate > 0 ? `${plural(upToDate, 'file')} had nothing new.` : '',
    elsewhere > 0
      ? `${plural(elsewhere, 'file')} of other projects left alone; --all-projects takes those that Stint knows.`
      : '',
    damaged > 0
      ? `${plural(damaged, 'line')} could not be read and ${damaged === 1 ? 'was' : 'were'} passed over.`
      : '',
  ]
  return [headline, ...byHarness, ...notes.filter((note) => note !== '')].join('\n')
}

/** The rate restarts when indexing begins. */
function showProgress(line: ProgressLine): (progress: ImportProgress) => void {
  let startedAt = performance.now()
  let wasIndexing = false
  return ({ bytes, totalBytes, files, totalFiles, isIndexing = false }) => {
    if (isIndexing !== wasIndexing) startedAt = performance.now()
    wasIndexing = isIndexing
    line.draw(() => {
      const seconds = (performance.now() - startedAt) / 1000
      const rate = seconds <= 0 ? '' : `  ${byteSize(bytes / seconds)}/s`
      const activity = isIndexing ? 'made searchable' : `${files}/${totalFiles} files`
      const share = totalBytes === 0 ? 1 : bytes / totalBytes
      return `${progressBar(share)}  ${byteSize(bytes)} of ${byteSize(totalBytes)}${rate}  ${activity}`
    })
  }
}
