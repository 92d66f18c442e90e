import { publicHandoff } from '../../../public/projection.ts'
import { defined } from '../../../text/defined.ts'
import { defineCommandGroup, defineProjectCommand } from '../../context/command.ts'
import { EXIT } from '../../context/context.ts'
import {
  numberFlag,
  optionalArgument,
  optionalSessionArgument,
  textFlag,
  toggle,
} from '../../context/flags.ts'
import {
  describeAcceptedHandoff,
  describeCreatedHandoff,
  describeHandoff,
  handoffJson,
  handoffLine,
} from '../../print/handoff.ts'

const create = defineProjectCommand({
  brief: 'Make the document by which the session is passed on',
  about:
    'Built from the journal and the repository, without a model: objective, next action, blockers, uncommitted work and where it\nis kept, then what else helps, as far as there is room. What can be checked is checked now, and tagged verified or unverified.\nA checkpoint keeps the code with it.',
  usage: [
    ['--reason "The context is nearly full"', 'for the next conversation'],
    ['--to write-docs', 'for another task, or another session'],
    ['fix-auth --draft --tokens 1200', 'a short one, early, without the code'],
  ],
  args: [optionalSessionArgument('The session to hand over')],
  flags: {
    reason: textFlag('Why it is handed over'),
    to: textFlag('The task or session it is for', 'TASK|SESSION'),
    draft: toggle('Make it early and quickly, without keeping the code'),
    noCode: toggle('Keep the journal only, not the working tree'),
    tokens: numberFlag('What it may cost a model: 600 to 12000, 3000 when absent'),
  },
  async run({ project, output, pick, print, context }, { noCode, ...flags }, name) {
    const created = await project.handoffs.create({
      by: 'cli',
      ...flags,
      ...(await pick(name)),
      ...(noCode && { code: false }),
    })
    const { handoff, state, path, leftOut } = created
    print({ ...handoffJson(handoff, state), path, leftOut }, () =>
      describeCreatedHandoff(created, context.cwd, output),
    )
  },
})

const HANDOFF_NAMES =
  'a number or part of an id of the session at hand, SESSION/NUMBER, or SESSION for its latest; the latest when absent'

const show = defineProjectCommand({
  brief: 'Show a handoff as it was recorded',
  usage: [
    ['', 'the latest'],
    ['fix-auth/2', 'the second of a session'],
    ['--check', 'what of it still holds; exit 1 when something moved'],
  ],
  args: [optionalArgument(`The handoff: ${HANDOFF_NAMES}`, 'SESSION|ID')],
  flags: { check: toggle('Compare it with the journal and the repository as they are now') },
  async run({ project, output, print, exit }, { check }, name) {
    const shown = await project.handoffs.show(defined({ handoff: name, check }))
    const { handoff, session, path, file, moved } = shown
    if (file === 'edited')
      output.info(`${path} was edited or damaged since; shown is what was recorded`)
    if (file === 'missing') output.info(`${path} was gone and is written again`)
    print({ ...handoffJson(handoff, session), path, file, moved }, () => describeHandoff(shown))
    if ((moved ?? []).length > 0 || (check && file === 'edited')) exit(EXIT.failure)
  },
})

const list = defineProjectCommand({
  brief: 'List the handoffs of a session',
  args: [optionalSessionArgument('The session')],
  async run({ project, pick, print }, _flags, name) {
    const { session, handoffs } = await project.handoffs.list(await pick(name))
    const rows = handoffs.map((handoff) => publicHandoff(handoff, session))
    print(rows, () =>
      handoffs.length === 0
        ? 'No handoffs yet: stint handoff create makes one.'
        : handoffs.map(handoffLine).join('\n'),
    )
  },
})

const accept = defineProjectCommand({
  brief: 'Take a handoff up, if it still holds',
  about:
    'Checks that the document is the one that was made, and that HEAD, branch, files, journal and tasks are as it says. If so, prints\nit and goes on with the session; if not, says exactly what moved and exits with 1. Either way it is recorded.',
  usage: [
    ['', 'the latest of the session at hand'],
    ['fix-auth/2', 'the second of a session'],
    ['handoff.md', 'a document, also where its journal is not'],
    ['--force', 'although something moved'],
  ],
  args: [
    optionalArgument(`The handoff: ${HANDOFF_NAMES}; or the path of a document`, 'SESSION|ID|FILE'),
  ],
  flags: { force: toggle('Take it up although it is stale or was changed') },
  async run({ project, output, print, exit }, { force }, name) {
    const accepted = await project.handoffs.accept({
      by: 'cli',
      ...defined({ handoff: name, force }),
    })
    for (const note of accepted.notes) output.info(note)
    const { isTaken, text: document, ...rest } = accepted
    const value = { ...rest, isTakenUp: isTaken, document: isTaken ? document : undefined }
    print(value, () => describeAcceptedHandoff(accepted, output))
    if (!isTaken) exit(EXIT.failure)
  },
})

export const handoff = defineCommandGroup({
  brief: 'Pass a session on to the next conversation, and take one up',
  routes: { create, show, list, accept },
})
