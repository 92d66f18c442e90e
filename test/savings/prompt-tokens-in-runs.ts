import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findRepository } from '../../src/git/repository.ts'
import { DEFAULT_RUN } from '../../src/project/config/run-config.ts'
import { BUILT_IN_PROFILES } from '../../src/run/profiles/profile.ts'
import { setupText } from '../../src/run/agent-prompts/setup-text.ts'
import { taskText } from '../../src/run/agent-prompts/task-text.ts'
import { loadProjectContext } from '../../src/context/survey/project-context.ts'
import { shortnameFor } from '../../src/backlog/task.ts'
import { realTokens } from '../context/vocabularies.ts'
import { git, initRepository, temporaryFolder } from '../support/scratch.ts'

/**
 * Tokens of the set-up and task texts that a run sends, by the number of tasks and conversations. The texts are those of the recorded
 * runs of the real Claude Code.
 */
export function promptTokensInRuns(): (tasks: number, conversations: number) => number {
  const setup = realTokens(setupInSmallProject())
  return (tasks, conversations) => {
    const texts = Array.from({ length: tasks }, (_, index) =>
      realTokens(textOfTask(`Part ${index + 1}`)),
    )
    return texts.reduce((sum, tokens) => sum + tokens, setup * conversations)
  }
}

function setupInSmallProject(): string {
  const folder = temporaryFolder()
  try {
    initRepository(folder)
    writeFileSync(join(folder, 'readme.txt'), 'a project\n')
    git(folder, 'add', '.')
    const { taskMinutes, silenceMinutes } = DEFAULT_RUN
    return setupText({
      instructions: [],
      files: [],
      project: loadProjectContext(findRepository(folder)!, { withoutSecrets: (text) => text }).text,
      profiles: BUILT_IN_PROFILES,
      permissions: 'edits',
      branch: 'work',
      limits: { minutes: taskMinutes, silentMinutes: silenceMinutes },
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function textOfTask(title: string): string {
  return taskText({
    shortname: shortnameFor(title),
    title,
    description: '',
    details: '',
    checklist: [],
  })
}
