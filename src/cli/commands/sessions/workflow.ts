import { relative } from 'node:path'
import { currentLeaf } from '../../../core.ts'
import type { WorkflowOverview } from '../../../library.ts'
import type { Project } from '../../../core.ts'
import { publicWorkflow } from '../../../public/projection.ts'
import { defined } from '../../../text/defined.ts'
import {
  type ProjectInvocation,
  defineCommandGroup,
  defineProjectCommand,
} from '../../context/command.ts'
import {
  argument,
  optionalArgument,
  completions,
  sessionNameFlag,
  textFlag,
  toggle,
} from '../../context/flags.ts'
import {
  describeRecovered,
  describePhaseChange,
  describeWorkflow,
  workflowTable,
} from '../../print/workflow.ts'

const workflowArgument = argument('The workflow', 'ID', completions.sessions)
const noteFlag = textFlag('What to remember of it')

type Workflows = Awaited<ReturnType<Project['workflows']>>

/** Runs an operation on a workflow and prints the workflow; with a headline only that and the next step. */
async function printWorkflow(
  { project, output, print }: ProjectInvocation,
  work: (workflows: Workflows) => Promise<WorkflowOverview>,
  headline?: (overview: WorkflowOverview) => string,
): Promise<void> {
  const overview = await work(await project.workflows())
  print(publicWorkflow(overview), () =>
    headline === undefined
      ? describeWorkflow(overview, output)
      : describePhaseChange(headline(overview), overview, output),
  )
}

/** A workflow is named by its session. */
async function resolveWorkflow({ pick }: ProjectInvocation, name: string) {
  const { session = name } = await pick(name)
  return { by: 'cli', workflow: session }
}

const init = defineProjectCommand({
  brief: 'Begin a workflow: a session that follows a template of phases',
  about:
    'The id is the short name of the session, so every command that takes a session takes it. Without --template it is the\nnine phases that are built in; the template is kept as it is now, whatever becomes of its file.',
  usage: [
    ['wf-001 "User auth"', 'nine phases over three conversations'],
    ['wf-002 "Release 3" --template release', 'those of .sessions/workflows/release.yaml'],
    [
      'wf-003 "Login" --session fix-login',
      'for the session fix-login, which is then called wf-003',
    ],
  ],
  args: [argument('Short and unused, such as wf-001', 'ID'), argument('What it is about', 'NAME')],
  flags: {
    template: textFlag('The phases, by the name of a template or the path of a file', 'TEMPLATE'),
    session: sessionNameFlag('An open session that is to follow the template'),
    goal: textFlag('Objective'),
  },
  async run(invocation, { template, goal, session }, id, name) {
    const picked = await invocation.pick(session)
    await printWorkflow(
      invocation,
      (workflows) =>
        workflows.begin({
          by: 'cli',
          id,
          name,
          ...picked,
          ...defined({ template, goal }),
        }),
      () => `Workflow begun: ${id}`,
    )
  },
})

const phase = defineProjectCommand({
  brief: 'Enter a phase, the next one unless another is named',
  about:
    'Saves a checkpoint, the code included. Past a gate it goes when a person has approved the phase before it. Going back\nreopens what comes after. At the last phase, without PHASE, that one is called finished.',
  usage: [
    ['wf-001', 'the next one'],
    ['wf-001 5b --note "all red"', 'by its number'],
    ['wf-001 design', 'by its name, or a part of it; here, to go back'],
  ],
  args: [workflowArgument, optionalArgument('By number, sub-number or name', 'PHASE')],
  flags: { note: noteFlag },
  async run(invocation, { note }, id, phase) {
    const target = await resolveWorkflow(invocation, id)
    await printWorkflow(
      invocation,
      (workflows) => workflows.phase({ ...target, ...defined({ phase, note }) }),
      ({ workflow }) => {
        const { leaf } = currentLeaf(workflow)
        return `Phase ${leaf.id} - ${leaf.name} ${PHASE_STATUS_TEXTS[leaf.status as 'current']}`
      },
    )
  },
})

const PHASE_STATUS_TEXTS = {
  current: 'entered',
  done: 'done',
  'waiting for approval': 'waits for approval',
}

const approve = defineProjectCommand({
  brief: 'Approve a phase, which opens the one after its gate',
  about:
    "An approval is a person's. In the shell of an agent it is refused, unless the person's own words are passed on with\n--person-said; they are recorded.",
  usage: [
    ['wf-001', 'the current phase'],
    ['wf-001 4 --note "without the admin page"', 'by its number, with a remark'],
    ['wf-001 --person-said "Plan is fine, build it"', 'by an agent, in the words of the person'],
  ],
  args: [
    workflowArgument,
    optionalArgument('By number or name; the current one when absent', 'PHASE'),
  ],
  flags: { note: noteFlag, personSaid: textFlag('The words in which the person approved it') },
  async run(invocation, { note, personSaid }, id, phase) {
    const target = await resolveWorkflow(invocation, id)
    await printWorkflow(
      invocation,
      (workflows) =>
        workflows.approve({ ...target, ...defined({ phase, note, said: personSaid }) }),
      ({ workflow }) => `Phase ${workflow.approvals.at(-1)!.phase} approved`,
    )
  },
})

const set = defineProjectCommand({
  brief: 'Add a deliverable, or set the name or the focus',
  usage: [
    ['wf-001 deliverables tests/auth/Login.test.tsx', 'adds it; --remove takes it off'],
    ['wf-001 name "User auth, without SSO"', ''],
    ['wf-001 focus "only the login form"', 'until the next phase'],
  ],
  args: [
    workflowArgument,
    argument('deliverables, name or focus', 'KEY'),
    argument('What to add or set', 'VALUE'),
  ],
  flags: { remove: toggle('Take the deliverable off, or the focus back') },
  async run(invocation, { remove }, id, key, value) {
    const target = await resolveWorkflow(invocation, id)
    await printWorkflow(invocation, (workflows) =>
      workflows.set({ ...target, key, value, ...defined({ remove }) }),
    )
  },
})

const status = defineProjectCommand({
  brief: 'Show the phases of a workflow, what they deliver and what comes next',
  usage: [
    ['', 'of the session that is worked on here'],
    ['wf-001 --json', ''],
  ],
  args: [optionalArgument('The workflow', 'ID', completions.sessions)],
  async run(invocation, _flags, id) {
    const { session } = await invocation.pick(id)
    await printWorkflow(invocation, (workflows) => workflows.status(session))
  },
})

const list = defineProjectCommand({
  brief: 'List the workflows',
  usage: [['', 'all, the latest first']],
  async run({ project, output, print }) {
    const overviews = await (await project.workflows()).list()
    print(overviews.map(publicWorkflow), () =>
      overviews.length === 0
        ? 'No workflows: stint workflow init wf-001 "NAME" begins one.'
        : workflowTable(overviews, output),
    )
  },
})

const recover = defineProjectCommand({
  brief: 'Rebuild a workflow from its journal, or from what git and documents say of it',
  about:
    'Looks for its journal, also under the git directory. Where that is lost, opens a session and concludes the phase from\ncommits, branches, handoffs, documents and kept code that name the workflow or its phases, and shows all of it.',
  usage: [
    ['wf-001 --dry-run', 'only say what is found and concluded'],
    ['wf-001 --name "User auth" --phase 5', 'in the fifth phase, whatever is found'],
  ],
  args: [argument('The workflow, also one that is not there', 'ID')],
  flags: {
    name: textFlag('What it is called'),
    phase: textFlag('The phase it is in', 'PHASE'),
    template: textFlag('The template it follows, where its journal is lost', 'TEMPLATE'),
    dryRun: toggle('Change nothing'),
  },
  async run({ project, output, print }, flags, workflow) {
    const recovered = await (await project.workflows()).recover({ by: 'cli', workflow, ...flags })
    const { overview, ...rest } = recovered
    const value = { ...rest, ...defined({ workflow: overview && publicWorkflow(overview) }) }
    print(value, () => describeRecovered(recovered, workflow, output))
  },
})

const template = defineProjectCommand({
  brief: 'List the templates, or print one as YAML',
  usage: [
    ['', 'those that there are'],
    ['nine-phases > .sessions/workflows/mine.yaml', "to start one's own from"],
  ],
  args: [optionalArgument('The template', 'NAME')],
  async run({ project, print, context }, _flags, name) {
    const workflows = await project.workflows()
    if (name !== undefined) {
      const result = workflows.template(name)
      return print(result, () => result.text)
    }
    const result = workflows.templates()
    print(
      result.map(({ name, path }) => ({ name, ...defined({ path }) })),
      () =>
        result
          .map(
            ({ name, path }) =>
              `${name}  ${path === undefined ? '(built in)' : relative(context.cwd, path)}`,
          )
          .join('\n'),
    )
  },
})

export const workflow = defineCommandGroup({
  brief: 'Sessions that follow a template of phases, with gates that a person opens',
  routes: { init, phase, approve, set, status, list, recover, template },
})
