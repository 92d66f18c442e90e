import { purgeTextProblem } from '../../../core.ts'
import type { Purged } from '../../../library.ts'
import { shortId } from '../../../public.ts'
import { EXIT, UsageError, type Output } from '../../context/context.ts'
import { argument, toggle } from '../../context/flags.ts'
import { defineProjectCommand } from '../../context/command.ts'
import { plural } from '../../print/terminal/text.ts'

const FILES_SHOWN = 4
// The branch of a run was set back from what failed, which its reflog remembers.
const FORGET_RESETS = 'git reflog expire --expire-unreachable=now --all && '

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
  async run({ project, output, print, exit, context }, flags, given) {
    const text = given === '-' ? await context.readStdin() : given
    const problem = purgeTextProblem(text)
    if (problem !== undefined) throw new UsageError(problem, 'printf %s "$SECRET" | stint purge -')
    const purged = await project.purge({ text, ...flags })
    print(purged, () => describe(purged, output))
    if (!purged.isDryRun && !purged.isComplete) exit(EXIT.failure)
  },
})

function describe(purged: Purged, output: Output): string {
  const { isDryRun, replacements, files, remaining } = purged
  const found = `${plural(replacements, 'place')} in ${plural(files.length, 'file')}`
  const head =
    replacements === 0
      ? 'Nothing recorded here holds it.'
      : isDryRun
        ? `Found in ${found}.`
        : `Purged from ${found}.`
  return [
    output.bold(head),
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
  const whose = [
    ...(checkpoints.length > attempts ? [plural(checkpoints.length - attempts, 'checkpoint')] : []),
    ...(attempts > 0 ? [plural(attempts, 'failed attempt')] : []),
  ].join(' and of ')
  return [
    '',
    areDropped ? `Let go of the code of ${whose} that held it:` : `The code of ${whose} holds it:`,
    ...checkpoints.map(({ checkpoint, attempt, ref, files }) => {
      const more = files.length > FILES_SHOWN ? ` and ${files.length - FILES_SHOWN} more` : ''
      const where =
        files.length === 0 ? 'in its message' : `${files.slice(0, FILES_SHOWN).join(', ')}${more}`
      return `   ${shortId(checkpoint ?? attempt ?? '')}  ${ref}  ${where}`
    }),
    ...(areDropped
      ? [
          `   The objects stay in the repository until: ${attempts > 0 ? FORGET_RESETS : ''}git gc --prune=now`,
        ]
      : [`   ${isDryRun ? 'purge' : 'the same'} with --checkpoints lets go of it`]),
    ...(isInHistory
      ? ['   Some of it is in branches or tags of yours as well, which are left alone.']
      : []),
  ]
}
