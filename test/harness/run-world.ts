// `stint run` with the real Claude Code and a scripted agent in place of its model.
import { readlinkSync } from 'node:fs'
import { carriersOf } from '../support/processes.ts'
import { answerAs } from './claude-agent.ts'
import { ClaudeWorld } from './claude-world.ts'
import { type ScriptedAgent } from './scripted-agent.ts'
import { StartedRun } from './started-run.ts'

export class RunWorld extends StartedRun {
  private constructor(readonly claude: ClaudeWorld) {
    super(claude.project, claude.env)
  }

  static async create(
    agent: ScriptedAgent,
    options: { readonly setup?: boolean; readonly config?: string } = {},
  ): Promise<RunWorld> {
    const claude = await claudeWith(agent, options)
    const world = new RunWorld(claude)
    if (options.config !== undefined) world.write('.sessions/config.yaml', options.config)
    return world
  }

  /** The Claude Code process that this run started, without its children. */
  agents(): readonly number[] {
    return carriersOf(`STINT_RUN=${this.id}`).filter(
      (pid) => programOf(pid) === this.claude.program,
    )
  }
}

/** The real Claude Code, found as Stint finds it, with the agent behind it. */
export async function claudeWith(
  agent: ScriptedAgent,
  options: { readonly setup?: boolean } = {},
): Promise<ClaudeWorld> {
  const claude = await ClaudeWorld.create('2.1.325', { setup: options.setup === true })
  claude.env.STINT_CLAUDE = claude.program
  claude.env.CLAUDE_CODE_AUTO_COMPACT_WINDOW = '200000'
  answerAs(claude.stub, agent)
  return claude
}

function programOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/exe`)
  } catch {
    // It ended meanwhile.
    return ''
  }
}
