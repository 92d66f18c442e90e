// What keeps the delegates of a project apart beside their trees: ports, variables, and the command around the agent.
import { StintError } from '../../journal/errors.ts'
import type { DelegateSettings } from '../../project/config/run-config.ts'
import { commandWords } from '../../text/command-words.ts'
import type { DelegateOrder } from '../entries.ts'

type Named = Pick<DelegateOrder, 'name' | 'slot'>

const HIGHEST_PORT = 65_535

/** What a delegate finds in its environment besides the user's: its name, its ports, and what the configuration says. */
export function delegateEnvironment(
  order: Named,
  tree: string,
  settings: DelegateSettings,
): Readonly<Record<string, string>> {
  const fill = filler('delegates.env', order, tree, settings)
  const configured = settings.env.map((line) => {
    const end = line.indexOf('=')
    return [line.slice(0, end), fill(line.slice(end + 1))] as const
  })
  return {
    ...Object.fromEntries(configured),
    STINT_DELEGATE: order.name,
    STINT_PORT: String(firstPort(order, settings)),
    STINT_PORTS: String(settings.ports),
  }
}

/** The words of the command to put before the agent's own, if there is one. */
export function delegateWrap(
  order: Named,
  tree: string,
  settings: DelegateSettings,
): readonly string[] | undefined {
  if (settings.wrap === undefined) return undefined
  const words = commandWords(settings.wrap)
  if (words === undefined)
    throw invalid(`delegates.wrap: a quotation does not end in ${settings.wrap}`)
  // Filled in word by word: a folder with a blank in its name stays one.
  return words.map(filler('delegates.wrap', order, tree, settings))
}

function firstPort({ slot }: Named, { portBase, ports }: DelegateSettings): number {
  const first = portBase + slot * ports
  if (first + ports - 1 <= HIGHEST_PORT) return first
  throw invalid(
    `delegates.port_base: the ports ${first} to ${first + ports - 1} of number ${slot} are beyond ${HIGHEST_PORT}`,
  )
}

function filler(
  key: string,
  order: Named,
  tree: string,
  settings: DelegateSettings,
): (text: string) => string {
  const port = firstPort(order, settings)
  const values: Readonly<Record<string, string>> = {
    port: String(port),
    slot: String(order.slot),
    name: order.name,
    tree,
  }
  return (text) =>
    text.replaceAll(/\{([a-z]\w*)(?:\+(\d+))?\}/gi, (written, name: string, more?: string) => {
      const value = Object.hasOwn(values, name) ? values[name] : undefined
      if (value === undefined || (more !== undefined && name !== 'port'))
        throw invalid(
          `${key}: there is no ${written}; there are {port}, {port+1} and so on, {slot}, {name} and {tree}`,
        )
      if (more === undefined) return value
      // It would be a port of the next delegate.
      if (Number(more) >= settings.ports)
        throw invalid(`${key}: ${written} is too far: delegates.ports is ${settings.ports}`)
      return String(port + Number(more))
    })
}

function invalid(reason: string): StintError {
  return new StintError(
    'CONFIG_INVALID',
    reason,
    'mend the section delegates in .sessions/config.yaml',
  )
}
