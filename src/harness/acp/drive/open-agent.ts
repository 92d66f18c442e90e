import { type NewSessionRequest, type SessionConfigOption, methods } from '@agentclientprotocol/sdk'
import { StintError } from '../../../journal/errors.ts'
import type { Conversation, HarnessCheck, OpenConversation } from '../../contract/drive.ts'
import { findProgram } from '../../process/find-program.ts'
import { type AcpProgram, type StartedAgent, orEnd, startAgent } from './start-agent.ts'
import { AcpConversation, Listener } from './conversation.ts'

export async function checkAgent(
  program: AcpProgram,
  env: NodeJS.ProcessEnv,
): Promise<HarnessCheck> {
  const cwd = process.cwd()
  if (findProgram(program.command, env, cwd) === undefined)
    return {
      isThere: false,
      problem: `there is no program ${program.command}`,
      hint: 'install it, or put its folder on the PATH',
    }
  try {
    const { says, process: started } = await startAgent(
      program,
      { cwd, env },
      new Listener({ cwd, env, permissions: 'ask', allow: [] }),
    )
    started.stdin.end()
    await started.end()
    const { agentInfo, protocolVersion } = says
    return { isThere: true, version: agentInfo?.version ?? `protocol ${protocolVersion}` }
  } catch (error) {
    if (!(error instanceof StintError)) throw error
    return {
      isThere: false,
      problem: error.message,
      hint: error.hint ?? 'run it by hand to see what is wrong with it',
    }
  }
}

export async function openConversation(
  program: AcpProgram,
  options: OpenConversation,
): Promise<Conversation> {
  const listener = new Listener(options)
  const agent = await startAgent(program, options, listener)
  return orEnd(program, agent, async () => {
    const { id, configOptions } = await enter(program, agent, options)
    const model = await chooseModel(program, agent, id, configOptions ?? [], options.model)
    return new AcpConversation(id, agent, listener, model)
  })
}

interface Entered {
  readonly id: string
  readonly configOptions?: readonly SessionConfigOption[] | null | undefined
}

async function enter(
  { name }: AcpProgram,
  { connection, says }: StartedAgent,
  options: OpenConversation,
): Promise<Entered> {
  const where: NewSessionRequest = { cwd: options.cwd, mcpServers: [] }
  if (options.resume === undefined) {
    const { sessionId, configOptions } = await connection.agent.request(
      methods.agent.session.new,
      where,
    )
    return { id: sessionId, configOptions }
  }
  const { loadSession, sessionCapabilities } = says.agentCapabilities ?? {}
  const canResume = sessionCapabilities?.resume !== undefined && sessionCapabilities.resume !== null
  if (loadSession !== true && !canResume)
    throw new StintError(
      'CANNOT_RESUME',
      `${name} cannot go on with a conversation`,
      'begin a new one',
    )
  const method = loadSession === true ? methods.agent.session.load : methods.agent.session.resume
  const { configOptions } = await connection.agent.request(method, {
    ...where,
    sessionId: options.resume,
  })
  return { id: options.resume, configOptions }
}

async function chooseModel(
  { name }: AcpProgram,
  { connection }: StartedAgent,
  sessionId: string,
  options: readonly SessionConfigOption[],
  wanted: string | undefined,
): Promise<string | undefined> {
  const option = options.find(
    (one) => one.type === 'select' && (one.category === 'model' || one.id === 'model'),
  )
  if (wanted === undefined)
    return option?.type === 'select' && option.currentValue !== 'default'
      ? option.currentValue
      : undefined
  if (option === undefined)
    throw new StintError(
      'NO_CHOICE_OF_MODEL',
      `${name} does not let its model be chosen`,
      'leave --model away, or choose it in its own settings',
    )
  await connection.agent.request(methods.agent.session.setConfigOption, {
    sessionId,
    configId: option.id,
    value: wanted,
  })
  return wanted
}
