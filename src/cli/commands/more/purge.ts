import { purgeTextProblem } from '../../../core.ts'
import type { Purged } from '../../../library.ts'
import { shortId } from '../../../public/projection.ts'
import { EXIT, UsageError, type Output } from '../../context/context.ts'
import { argument, toggle } from '../../context/flags.ts'
import { defineProjectCommand } from '../../context/command.ts'
import { plural } from '../../print/terminal/text.ts'

const MAX_FILES_SHOWN = 4
// The branch of a run was rolled back from failed attempts, which its reflog still references.
const EXPIRE_REFLOG = 'git reflog expire --expire-unreachable=now --all && '

export const purge = defineProjectCommand({
  brief: 'Take a leaked secret out of everything recorded',
  about:
    'Replaces the text in every journal, document, task, copy and index of this project. This is the only command that rewrites a journal. It can be run again at any time, also after it was killed.',
  usage: [
    ['-', 'read the text from standard input, so that it stays out of the shell history'],
    ['- --dry-run', 'only say where it is'],
    ['- --checkpoints', 'also let go of code that checkpoints and failed attempts kept with it'],
  ],
  args: [argument('The text, or - to read it from standard input', 'TEXT')],
  flags: {
    dryRun: toggle('Change nothing and say where it is'),
    checkpoints: toggle('Let go of the code of checkpoints and failed attempts that hold it'),
  },
  async run({ project, output, print, exit, context }, flags, textOrDash) {
    const text = textOrDash === '-' ? await context.readStdin() : textOrDash
    const problem = purgeTextProblem(text)
    if (problem !== undefined) throw new UsageError(problem, 'printf %s "$SECRET" | stint purge -')
    const purged = await project.purge({ text, ...flags })
    print(purged, () => describePurge(purged, output))
    if (!purged.isDryRun && !purged.isComplete) exit(EXIT.failure)
  },
})

function describePurge(purged: Purged, output: Output): string {
  const { isDryRun, replacements, files, remaining } = purged
  const places = `${plural(replacements, 'place')} in ${plural(files.length, 'file')}`
  const headline =
    replacements === 0
      ? 'Nothing recorded here holds it.'
      : isDryRun
        ? `Found in ${places}.`
        : `Purged from ${places}.`
  return [
    output.bold(headline),
    ...files.map((file) => `   ${String(file.replacements).padStart(5)}  ${file.path}`),
    ...(isDryRun ? [] : ['   The index was built anew.']),
    ...describeCode(purged),
    ...(remaining.length === 0
      ? []
      : [
          '',
          'Still there, as a part of ids, names of fields or headings, or because it is being written again:',
        ]),
    ...remaining.map((path) => `   ${path}`),
    ...(replacements === 0 || isDryRun
      ? []
      : ['', 'A secret that was written down once should be changed where it is used.']),
  ].join('\n')
}

function describeCode({ checkpoints, isDryRun }: Purged): readonly string[] {
  if (checkpoints.length === 0) return []
  const areDropped = checkpoints.every((code) => code.isDropped)
  const isInHistory = checkpoints.some((code) => code.isInHistory)
  const attempts = checkpoints.filter(({ attempt }) => attempt !== undefined).length
  const owners = [
    ...(checkpoints.length > attempts ? [plural(checkpoints.length - attempts, 'checkpoint')] : []),
    ...(attempts > 0 ? [plural(attempts, 'failed attempt')] : []),
  ].join(' and of ')
  return [
    '',
    areDropped
      ? `Let go of the code of ${owners} that held it:`
      : `The code of ${owners} holds it:`,
    ...checkpoints.map(({ checkpoint, attempt, ref, files }) => {
      const more =
        files.length > MAX_FILES_SHOWN ? ` and ${files.length - MAX_FILES_SHOWN} more` : ''
      const location =
        files.length === 0
          ? 'in its message'
          : `${files.slice(0, MAX_FILES_SHOWN).join(', ')}${more}`
      return `   ${shortId(checkpoint ?? attempt ?? '')}  ${ref}  ${location}`
    }),
    ...(areDropped
      ? [
          `   The objects stay in the repository until: ${attempts > 0 ? EXPIRE_REFLOG : ''}git gc --prune=now`,
        ]
      : [`   ${isDryRun ? 'purge' : 'the same'} with --checkpoints lets go of it`]),
    ...(isInHistory
      ? ['   Some of it is in branches or tags of yours as well, which are left alone.']
      : []),
  ]
}
