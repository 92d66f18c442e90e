import { importedHarnesses } from '../../../core.ts'
import type { ImportProgress, ImportReport } from '../../../library.ts'
import { plural } from '../../print/terminal/text.ts'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { buildCommand } from '@stricli/core'
import type { Context } from '../../context/context.ts'
import { EXIT, Misuse } from '../../context/errors.ts'
import { json, moment, text, toggle } from '../../context/flags.ts'
import { ProgressLine, bar } from '../../print/terminal/live.ts'
import { size } from '../../print/terminal/text.ts'
import { withProject } from '../../context/with-project.ts'
import { defined } from '../../../text/defined.ts'

interface Flags {
  readonly allProjects?: boolean
  readonly since?: string
  readonly dryRun?: boolean
  readonly json?: boolean
}

const UNREAD_SHOWN = 5

export const importing = buildCommand<Flags, string[], Context>({
  docs: {
    brief: 'Bring in what agents have said here before',
    fullDescription:
      'Stores the conversations that Claude Code, Codex, Gemini CLI and opencode have kept of this project, without the secrets in them. Again, it adds only what is new. It may be ended at any time and goes on from there.',
    customUsage: [
      { input: '', brief: 'everything that was said in this project' },
      { input: 'codex --since 2026-01-01', brief: 'only conversations of Codex, and of this year' },
      { input: 'all --all-projects', brief: 'for every project that Stint was used in' },
      { input: 'claude backup/projects', brief: 'a folder of transcripts from elsewhere' },
      { input: '--dry-run', brief: 'only say what there is' },
    ],
  },
  parameters: {
    positional: {
      kind: 'array',
      parameter: {
        parse: String,
        brief: `One of ${importedHarnesses().join(', ')} or all, then files and folders`,
        placeholder: 'HARNESS|PATH',
      },
    },
    flags: {
      allProjects: toggle(
        'Into every project that Stint was used in on this machine, each what was said there',
      ),
      since: text('Only what was written since', 'DATE'),
      dryRun: toggle('Read and count, and store nothing'),
      json,
    },
  },
  async func(flags, ...words) {
    await withProject(this, flags, async (project, output) => {
      const { harnesses, paths } = wanted(words, this.cwd)
      if (flags.allProjects === true && paths.length > 0) {
        throw new Misuse(
          'files that are named go into this project',
          'leave --all-projects or the paths away',
        )
      }
      const line = ProgressLine.on(this)
      const report = await project.importHistories({
        paths,
        ...defined({
          harnesses,
          since: moment(flags.since),
          allProjects: flags.allProjects,
          isDryRun: flags.dryRun,
        }),
        ...(line === undefined ? {} : { tell: progressBy(line) }),
      })
      line?.clear()
      for (const { path, problem } of report.unread.slice(0, UNREAD_SHOWN))
        output.talk(`${path} was not read: ${problem}`)
      if (report.unread.length > UNREAD_SHOWN)
        output.talk(`and ${report.unread.length - UNREAD_SHOWN} more`)
      output.result(flags.json, report, () => describe(report))
      if (report.unread.length > 0) this.process.exitCode = EXIT.failure
    })
  },
})

function wanted(
  words: readonly string[],
  cwd: string,
): { readonly harnesses?: readonly string[]; readonly paths: readonly string[] } {
  const [first, ...rest] = words
  const isName = first !== undefined && (first === 'all' || importedHarnesses().includes(first))
  const paths = isName ? rest : words
  for (const path of paths) {
    if (!existsSync(resolve(cwd, path))) {
      const hint =
        path === first
          ? `a harness is one of ${importedHarnesses().join(', ')} or all; anything else is a path`
          : 'see what it is called'
      throw new Misuse(`there is no file or folder ${path}`, hint)
    }
  }
  return { paths, ...(isName && first !== 'all' ? { harnesses: [first] } : {}) }
}

function describe({
  isDryRun,
  conversations,
  upToDate,
  elsewhere,
  bytes,
  messages,
  damaged,
}: ImportReport): string {
  const fresh = conversations.filter(({ isNew }) => isNew).length
  const grown = conversations.length - fresh
  const counts = [
    fresh > 0 ? plural(fresh, 'conversation') : '',
    grown > 0 ? `more of ${plural(grown, 'conversation')}` : '',
  ]
  const what = counts.filter((count) => count !== '').join(' and ')
  const amount = `${plural(messages, 'message')} (${size(bytes)} read)`
  const head =
    what === '' ? 'Nothing new.' : `${isDryRun ? 'There are' : 'Imported'} ${what}: ${amount}.`
  const byHarness = importedHarnesses().flatMap((name) => {
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
  return [head, ...byHarness, ...notes.filter((note) => note !== '')].join('\n')
}

/** The rate is that of the files, and then anew that of the index. */
function progressBy(line: ProgressLine): (progress: ImportProgress) => void {
  let startedAt = performance.now()
  let wasIndexing = false
  return ({ bytes, totalBytes, files, totalFiles, isIndexing = false }) => {
    if (isIndexing !== wasIndexing) startedAt = performance.now()
    wasIndexing = isIndexing
    line.draw(() => {
      const seconds = (performance.now() - startedAt) / 1000
      const rate = seconds <= 0 ? '' : `  ${size(bytes / seconds)}/s`
      const what = isIndexing ? 'made searchable' : `${files}/${totalFiles} files`
      const share = totalBytes === 0 ? 1 : bytes / totalBytes
      return `${bar(share)}  ${size(bytes)} of ${size(totalBytes)}${rate}  ${what}`
    })
  }
}
