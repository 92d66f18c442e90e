import { type Command, type Finding, type Look, type Told, purposesOf } from './finding.ts'
import { type Toml, readToml } from './toml.ts'
import { defined } from '../../text/defined.ts'

const MANAGERS = [
  { name: 'uv', lock: 'uv.lock', run: 'uv run ' },
  { name: 'poetry', lock: 'poetry.lock', run: 'poetry run ' },
  { name: 'pdm', lock: 'pdm.lock', run: 'pdm run ' },
  { name: 'pipenv', lock: 'Pipfile.lock', run: 'pipenv run ' },
] as const

/** Tables in which projects keep tasks, and what runs them. */
const TASK_TABLES = [
  ['tool.poe.tasks', 'poe '],
  ['tool.pdm.scripts', 'pdm run '],
  ['tool.hatch.envs.default.scripts', 'hatch run '],
  ['tool.taskipy.tasks', 'task '],
] as const

/** What Python's manifests say. */
export function readPython(look: Look): Told {
  const from = 'pyproject.toml'
  const toml = readToml(look.sources.text(from) ?? '')
  const isPython =
    look.listing.has(from) ||
    ['setup.py', 'setup.cfg', 'requirements.txt', 'Pipfile'].some(look.listing.has)
  if (!isPython) return { findings: [], commands: [] }
  const manager = MANAGERS.find(({ lock }) => look.listing.has(lock))
  const run = manager?.run ?? ''
  const commands = [...tasks(toml, from), ...tools(look, toml, run)]
  return { findings: [...identity(toml, from), ...conventions(look, manager)], commands }
}

/** Whether a tool is configured here: in `pyproject.toml`, or in a file of its own. */
export function usesPythonTool(
  look: Look,
  toml: Toml,
  tool: string,
  files: readonly string[],
): string | undefined {
  if (toml.tables.some((table) => table === `tool.${tool}` || table.startsWith(`tool.${tool}.`)))
    return 'pyproject.toml'
  return files.find(look.listing.has)
}

function identity(toml: Toml, from: string): readonly Finding[] {
  const table = toml.text('project', 'name') === undefined ? 'tool.poetry' : 'project'
  const words = [toml.text(table, 'name'), toml.text(table, 'description')].filter(
    (word) => word !== undefined && word !== '',
  )
  const needs = toml.text('project', 'requires-python')
  return [
    ...(words.length === 0 ? [] : [{ topic: 'project', text: words.join(': '), from } as const]),
    ...(needs === undefined ? [] : [{ topic: 'needs', text: `Python ${needs}`, from } as const]),
  ]
}

function conventions(
  look: Look,
  manager: (typeof MANAGERS)[number] | undefined,
): readonly Finding[] {
  if (manager !== undefined)
    return [{ topic: 'conventions', text: `package manager ${manager.name}`, from: manager.lock }]
  const from = 'requirements.txt'
  return look.listing.has(from) ? [{ topic: 'conventions', text: 'package manager pip', from }] : []
}

function tasks(toml: Toml, from: string): readonly Command[] {
  return TASK_TABLES.flatMap(([table, run]) =>
    purposesOf(toml.keys(table)).map(([purpose, name]): Command => {
      const runs = toml.text(table, name)
      return { purpose, command: `${run}${name}`, from, ...defined({ runs }) }
    }),
  )
}

function tools(look: Look, toml: Toml, run: string): readonly Command[] {
  const used = (tool: string, files: readonly string[]) => usesPythonTool(look, toml, tool, files)
  const command = (
    from: string | undefined,
    purpose: Command['purpose'],
    words: string,
  ): readonly Command[] =>
    from === undefined ? [] : [{ purpose, command: `${run}${words}`, from }]
  const ruff = used('ruff', ['ruff.toml', '.ruff.toml'])
  return [
    ...command(
      used('pytest', ['pytest.ini', 'conftest.py', 'tests/conftest.py', 'test/conftest.py']),
      'test',
      'pytest',
    ),
    ...command(used('tox', ['tox.ini']), 'test', 'tox'),
    ...command(used('nox', ['noxfile.py']), 'test', 'nox'),
    ...command(ruff, 'lint', 'ruff check'),
    ...command(used('flake8', ['.flake8']), 'lint', 'flake8'),
    ...command(used('pylint', ['.pylintrc', 'pylintrc']), 'lint', 'pylint'),
    ...command(used('ruff.format', []), 'format', 'ruff format'),
    ...command(used('black', []), 'format', 'black .'),
    ...command(used('mypy', ['mypy.ini', '.mypy.ini']), 'check', 'mypy .'),
    ...command(used('pyright', ['pyrightconfig.json']), 'check', 'pyright'),
  ]
}
