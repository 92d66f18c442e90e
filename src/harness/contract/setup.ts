import type { SetupPlan } from '../setup/plan.ts'

export interface HarnessSetup {
  readonly supportedFlags: ReadonlySet<string>
  setUp(
    request: SetupRequest,
    project: ProjectEnvironment,
    cwd: string,
  ): SetupPlan | Promise<SetupPlan>
  nextStep(request: Pick<SetupRequest, 'into'>): string
  /** Absent for a harness without hooks. */
  registeredScopes?(project: ProjectEnvironment): readonly SetupScope[]
  check?(project: ProjectEnvironment, checked: SetupCheckOptions): Promise<SetupReport>
}

/** You in this project, everyone in this project, or you in every project. */
export type SetupScope = 'local' | 'shared' | 'user'

export interface ProjectEnvironment {
  /** The root of this worktree, or of a project without git. */
  readonly root: string
  readonly gitCommonDir: string | undefined
  readonly env: NodeJS.ProcessEnv
}

/** `everywhere`: also in a foreign file. */
export type McpOption = 'yes' | 'everywhere' | 'no'

export interface SetupRequest {
  readonly into: SetupScope | { readonly plugin: string }
  readonly remove: boolean
  readonly dryRun: boolean
  readonly notify: boolean
  readonly instructions: boolean
  readonly statusLine: boolean
  readonly tokenEfficientTools: boolean
  readonly mcp: McpOption
  /** The user agreed to write through symbolic links that lead out of the project. */
  readonly followLinks?: boolean
}

export interface SetupCheckOptions {
  readonly cwd: string
  readonly conversations: string
  /** A repository, or a folder that has sessions. */
  readonly isProject: boolean
}

export interface HookProbe {
  /** The hook that the launcher names; null if it or its Node is gone. */
  readonly program: string | null
  readonly exitCode: number | null
  readonly output: string
}

export interface SettingsFileReport {
  readonly scope: SetupScope
  readonly path: string
  readonly status: 'current' | 'outdated' | 'none' | 'unreadable'
  /** The events registered as wanted. */
  readonly events: readonly string[]
  readonly plugin?: string
  readonly reason?: string
}

export interface ServerRegistration {
  readonly path: string
  /** `other`: not written by setup. */
  readonly status: 'current' | 'outdated' | 'other' | 'unreadable'
}

export interface ServerProbe {
  readonly isWell: boolean
  readonly said: string
}

export interface ServerReport {
  readonly places: readonly ServerRegistration[]
  /** Null without a server in `.mcp.json`; `asked` if no settings decide. */
  readonly approval: 'approved' | 'refused' | 'asked' | null
  readonly answer: ServerProbe | null
}

export interface SetupReport {
  readonly places: readonly SettingsFileReport[]
  readonly server: ServerReport
  /** Settings files that turn every hook off. */
  readonly disabledBy: readonly string[]
  readonly command: HookProbe
  /** When each event last fired in this project. */
  readonly fired: Readonly<Record<string, string | null>>
  readonly notes: readonly string[]
  readonly problems: readonly SetupProblem[]
  readonly isWorking: boolean
}

export interface SetupProblem {
  readonly kind:
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
  readonly what: string
  readonly advice: string
}
