import { currentPlace } from '../../../core.ts'
import { publicWorkflow } from '../../../public.ts'
import { buildCommand, buildRouteMap } from '@stricli/core'
import { relative } from 'node:path'
import type { Context } from '../../context/context.ts'
import {
  describeRecovered,
  describeStep,
  describeWorkflow,
  workflowTable,
} from '../../print/workflow.ts'
import { json, optionalName, sessionName, text, toggle } from '../../context/flags.ts'
import { propose } from '../../context/propose.ts'
import { withProject } from '../../context/with-project.ts'
import { defined } from '../../../text/defined.ts'

const id = {
  parse: String,
  brief: 'The workflow',
  placeholder: 'ID',
  proposeCompletions: propose.sessions,
} as const
const phaseArgument = (brief: string) =>
  ({ parse: String, brief, placeholder: 'PHASE', optional: true }) as const

interface InitFlags {
  readonly template?: string
  readonly session?: string
  readonly goal?: string
  readonly json?: boolean
}

const init = buildCommand<InitFlags, [string, string], Context>({
  docs: {
    brief: 'Begin a workflow: a session that follows a template of phases',
    fullDescription:
      'The id is the short name of the session, so every command that takes a session takes it. Without --template it is the\nnine phases that are built in; the template is kept as it is now, whatever becomes of its file.',
    customUsage: [
      { input: 'wf-001 "User auth"', brief: 'nine phases over three conversations' },
      {
        input: 'wf-002 "Release 3" --template release',
        brief: 'those of .sessions/workflows/release.yaml',
      },
      {
        input: 'wf-003 "Login" --session fix-login',
        brief: 'for the session fix-login, which is then called wf-003',
      },
    ],
  },
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        { parse: String, brief: 'Short and unused, such as wf-001', placeholder: 'ID' },
        { parse: String, brief: 'What it is about', placeholder: 'NAME' },
      ],
    },
    flags: {
      template: text('The phases, by the name of a template or the path of a file', 'TEMPLATE'),
      session: sessionName('An open session that is to follow the template'),
      goal: text('Objective'),
      json,
    },
  },
  async func(flags, id, name) {
    await withProject(this, flags, async (project, output, pick) => {
      const workflows = await project.workflows()
      const { template, goal } = flags
      const session = await pick(flags.session)
      const overview = await workflows.begin({
        by: 'cli',
        id,
        name,
        ...defined({ template, goal, session }),
      })
      output.result(flags.json, publicWorkflow(overview), () =>
        describeStep(`Workflow begun: ${id}`, overview, output),
      )
    })
  },
})

interface NoteFlags {
  readonly note?: string
  readonly json?: boolean
}

const phase = buildCommand<NoteFlags, [string, string?], Context>({
  docs: {
    brief: 'Enter a phase, the next one unless another is named',
    fullDescription:
      'Saves a checkpoint, the code included. Past a gate it goes when a person has approved the phase before it. Going back\nreopens what comes after. At the last phase, without PHASE, that one is called finished.',
    customUsage: [
      { input: 'wf-001', brief: 'the next one' },
      { input: 'wf-001 5b --note "all red"', brief: 'by its number' },
      { input: 'wf-001 design', brief: 'by its name, or a part of it; here, to go back' },
    ],
  },
  parameters: {
    positional: { kind: 'tuple', parameters: [id, phaseArgument('By number, sub-number or name')] },
    flags: { note: text('What to remember of it'), json },
  },
  async func(flags, id, wanted) {
    await withProject(this, flags, async (project, output, pick) => {
      const workflows = await project.workflows()
      const workflow = (await pick(id))!
      const overview = await workflows.phase({
        by: 'cli',
        workflow,
        ...defined({ phase: wanted, note: flags.note }),
      })
      const { place } = currentPlace(overview.workflow)
      const is = { current: 'entered', done: 'done', 'waiting for approval': 'waits for approval' }[
        place.status as 'current'
      ]
      output.result(flags.json, publicWorkflow(overview), () =>
        describeStep(`Phase ${place.id} - ${place.name} ${is}`, overview, output),
      )
    })
  },
})

const approve = buildCommand<
  NoteFlags & { readonly personSaid?: string },
  [string, string?],
  Context
>({
  docs: {
    brief: 'Approve a phase, which opens the one after its gate',
    fullDescription:
      "An approval is a person's. In the shell of an agent it is refused, unless the person's own words are passed on with\n--person-said; they are recorded.",
    customUsage: [
      { input: 'wf-001', brief: 'the current phase' },
      { input: 'wf-001 4 --note "without the admin page"', brief: 'by its number, with a remark' },
      {
        input: 'wf-001 --person-said "Plan is fine, build it"',
        brief: 'by an agent, in the words of the person',
      },
    ],
  },
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [id, phaseArgument('By number or name; the current one when absent')],
    },
    flags: {
      note: text('What to remember of it'),
      personSaid: text('The words in which the person approved it'),
      json,
    },
  },
  async func(flags, id, wanted) {
    await withProject(this, flags, async (project, output, pick) => {
      const workflows = await project.workflows()
      const workflow = (await pick(id))!
      const options = defined({ phase: wanted, note: flags.note, said: flags.personSaid })
      const overview = await workflows.approve({ by: 'cli', workflow, ...options })
      const approved = overview.workflow.approvals.at(-1)!.phase
      output.result(flags.json, publicWorkflow(overview), () =>
        describeStep(`Phase ${approved} approved`, overview, output),
      )
    })
  },
})

const set = buildCommand<{ remove?: boolean; json?: boolean }, [string, string, string], Context>({
  docs: {
    brief: 'Add a deliverable, or set the name or the focus',
    customUsage: [
      {
        input: 'wf-001 deliverables tests/auth/Login.test.tsx',
        brief: 'adds it; --remove takes it off',
      },
      { input: 'wf-001 name "User auth, without SSO"', brief: '' },
      { input: 'wf-001 focus "only the login form"', brief: 'until the next phase' },
    ],
  },
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        id,
        { parse: String, brief: 'deliverables, name or focus', placeholder: 'KEY' },
        { parse: String, brief: 'What to add or set', placeholder: 'VALUE' },
      ],
    },
    flags: { remove: toggle('Take the deliverable off, or the focus back'), json },
  },
  async func(flags, id, key, value) {
    await withProject(this, flags, async (project, output, pick) => {
      const workflows = await project.workflows()
      const workflow = (await pick(id))!
      const overview = await workflows.set({
        by: 'cli',
        workflow,
        key,
        value,
        ...defined({ remove: flags.remove }),
      })
      output.result(flags.json, publicWorkflow(overview), () => describeWorkflow(overview, output))
    })
  },
})

const status = buildCommand<{ json?: boolean }, [string?], Context>({
  docs: {
    brief: 'Show the phases of a workflow, what they deliver and what comes next',
    customUsage: [
      { input: '', brief: 'of the session that is worked on here' },
      { input: 'wf-001 --json', brief: '' },
    ],
  },
  parameters: {
    positional: { kind: 'tuple', parameters: [{ ...id, optional: true }] },
    flags: { json },
  },
  async func(flags, id) {
    await withProject(this, flags, async (project, output, pick) => {
      const workflows = await project.workflows()
      const overview = await workflows.status(await pick(id))
      output.result(flags.json, publicWorkflow(overview), () => describeWorkflow(overview, output))
    })
  },
})

const list = buildCommand<{ json?: boolean }, [], Context>({
  docs: {
    brief: 'List the workflows',
    customUsage: [{ input: '', brief: 'all, the latest first' }],
  },
  parameters: { flags: { json } },
  async func(flags) {
    await withProject(this, flags, async (project, output) => {
      const overviews = await (await project.workflows()).list()
      output.result(flags.json, overviews.map(publicWorkflow), () =>
        overviews.length === 0
          ? 'No workflows: stint workflow init wf-001 "NAME" begins one.'
          : workflowTable(overviews, output),
      )
    })
  },
})

interface RecoverFlags {
  readonly name?: string
  readonly phase?: string
  readonly template?: string
  readonly dryRun?: boolean
  readonly json?: boolean
}

const recover = buildCommand<RecoverFlags, [string], Context>({
  docs: {
    brief: 'Rebuild a workflow from its journal, or from what git and documents say of it',
    fullDescription:
      'Looks for its journal, also under the git directory. Where that is lost, opens a session and concludes the phase from\ncommits, branches, handoffs, documents and kept code that name the workflow or its phases, and shows all of it.',
    customUsage: [
      { input: 'wf-001 --dry-run', brief: 'only say what is found and concluded' },
      {
        input: 'wf-001 --name "User auth" --phase 5',
        brief: 'in the fifth phase, whatever is found',
      },
    ],
  },
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        { parse: String, brief: 'The workflow, also one that is not there', placeholder: 'ID' },
      ],
    },
    flags: {
      name: text('What it is called'),
      phase: text('The phase it is in', 'PHASE'),
      template: text('The template it follows, where its journal is lost', 'TEMPLATE'),
      dryRun: toggle('Change nothing'),
      json,
    },
  },
  async func(flags, workflow) {
    await withProject(this, flags, async (project, output) => {
      const workflows = await project.workflows()
      const { name, phase, template, dryRun } = flags
      const recovered = await workflows.recover({
        by: 'cli',
        workflow,
        ...defined({ name, phase, template, dryRun }),
      })
      const { overview, ...told } = recovered
      const value = {
        ...told,
        ...defined({ workflow: overview && publicWorkflow(overview) }),
      }
      output.result(flags.json, value, () => describeRecovered(recovered, workflow, output))
    })
  },
})

const template = buildCommand<{ json?: boolean }, [string?], Context>({
  docs: {
    brief: 'List the templates, or print one as YAML',
    customUsage: [
      { input: '', brief: 'those that there are' },
      { input: 'nine-phases > .sessions/workflows/mine.yaml', brief: "to start one's own from" },
    ],
  },
  parameters: { positional: optionalName('The template', 'NAME'), flags: { json } },
  async func(flags, name) {
    await withProject(this, flags, async (project, output) => {
      const workflows = await project.workflows()
      if (name !== undefined) {
        const found = workflows.template(name)
        output.result(flags.json, found, () => found.text)
        return
      }
      const found = workflows.templates()
      output.result(
        flags.json,
        found.map(({ name, path }) => ({ name, ...defined({ path }) })),
        () =>
          found
            .map(
              ({ name, path }) =>
                `${name}  ${path === undefined ? '(built in)' : relative(this.cwd, path)}`,
            )
            .join('\n'),
      )
    })
  },
})

type Routes = 'init' | 'phase' | 'approve' | 'set' | 'status' | 'list' | 'recover' | 'template'

export const workflow = buildRouteMap<Routes, Context>({
  routes: { init, phase, approve, set, status, list, recover, template },
  docs: { brief: 'Sessions that follow a template of phases, with gates that a person opens' },
})
