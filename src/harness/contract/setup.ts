// Installing Stint into an agent program, and taking it out.
import type { Plan } from '../setup/plan.ts'

/** The part of a harness that `stint setup` asks for. */
export interface HarnessSetup {
  /** The flags that it understands, by their names in the request of the command. */
  readonly takes: ReadonlySet<string>
  /** Does it, and answers what was done; with `dryRun` what would be. */
  setUp(request: SetupRequest, around: Surroundings, cwd: string): Plan | Promise<Plan>
  /** What to do once it is set up. */
  nextStep(request: Pick<SetupRequest, 'into'>): string
  /** Where hooks are registered. Absent for a harness without hooks, which needs no folder for sessions either. */
  registeredScopes?(around: Surroundings): readonly Scope[]
  /** Inspects everything, changes nothing. */
  check?(around: Surroundings, checked: Checked): Promise<SetupReport>
}

/** For whom: this project and you alone, everybody who works on this project, or you in every project. */
export type Scope = 'local' | 'shared' | 'user'

/** What setup has to know of its surroundings. */
export interface Surroundings {
  /** The folder that the harness is started in: the root of this worktree, or of a project without git. */
  readonly root: string
  readonly gitCommonDir: string | undefined
  readonly env: NodeJS.ProcessEnv
}

/** Whether there is to be a server. One person's does not go into a file that others wrote, unless it is `everywhere`. */
export type McpWish = 'yes' | 'everywhere' | 'no'

export interface SetupRequest {
  /** Into which settings, or into which folder as a plugin. */
  readonly into: Scope | { readonly plugin: string }
  readonly remove: boolean
  readonly dryRun: boolean
  readonly notify: boolean
  readonly instructions: boolean
  readonly statusLine: boolean
  readonly tokenEfficientTools: boolean
  readonly mcp: McpWish
}

export interface Checked {
  /** The folder that it is asked in, which may lie inside the project. */
  readonly cwd: string
  /** Where hooks note that they fired. */
  readonly conversations: string
  /** Whether hooks do anything here: in a repository, or a folder that has sessions. */
  readonly isProject: boolean
}

export interface Probe {
  /** How a Stint is found, in the order in which the command looks; null when there is none. */
  readonly foundBy: 'launcher' | 'project' | 'path' | null
  readonly program: string | null
  readonly exitCode: number | null
  /** What it said, which has to be the answer to the probe and nothing else. */
  readonly output: string
}

export interface ServerAnswer {
  readonly isWell: boolean
  /** Its name and version, or what is wrong. */
  readonly said: string
}

/** What one settings file says of our hooks. */
export interface PlaceReport {
  readonly scope: Scope
  readonly path: string
  readonly status: 'current' | 'outdated' | 'none' | 'unreadable'
  /** The events that are registered as they should be. */
  readonly events: readonly string[]
  /** The plugin of ours that it turns on. */
  readonly plugin?: string
  /** Why it cannot be read. */
  readonly reason?: string
}

/** A file that has an MCP server of our name. */
export interface ServerPlace {
  readonly path: string
  /** `other`: one that no setup wrote. */
  readonly status: 'current' | 'outdated' | 'other' | 'unreadable'
}

export interface ServerReport {
  /** None where it was left out. */
  readonly places: readonly ServerPlace[]
  /** What settings say of the server of `.mcp.json`; where they say nothing Claude Code asks. Null where there is none. */
  readonly approval: 'approved' | 'refused' | 'asked' | null
  /** What it said when it was started; null where there was nothing to start. */
  readonly answer: ServerAnswer | null
}

export interface SetupReport {
  readonly places: readonly PlaceReport[]
  readonly server: ServerReport
  /** The settings files that turn every hook off. */
  readonly disabledBy: readonly string[]
  readonly command: Probe
  /** When each event last fired in this project. */
  readonly fired: Readonly<Record<string, string | null>>
  /** What is not wrong, but good to know. */
  readonly notes: readonly string[]
  readonly problems: readonly SetupProblem[]
  readonly isWorking: boolean
}

type ProblemKind =
  | 'unreadable'
  | 'not registered'
  | 'outdated'
  | 'twice'
  | 'disabled'
  | 'not found'
  | 'not answering'
  | 'server outdated'
  | 'server not answering'
  | 'no project'
  | 'never fired'

export interface SetupProblem {
  readonly kind: ProblemKind
  readonly what: string
  readonly advice: string
}
