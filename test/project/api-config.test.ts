import { expect, test } from 'vitest'
import { parseConfig } from '../../src/project/config/config-schema.ts'
import { drivableNames } from '../../src/harness/registry.ts'
import { loadHarness, configuredCompactionPoint } from '../../src/run/loop/make-run-context.ts'
import { Workspace } from '../../src/project/store/workspace.ts'
import { gitProject } from '../support/project.ts'

const api = (section: object) => parseConfig({ api: section }, 'config.yaml').api

test('reads a default model from a few settings, and more providers by name', () => {
  expect(parseConfig({}, 'config.yaml').api).toEqual({ providers: {} })
  const read = api({
    provider: 'anthropic',
    model: 'claude-sonnet-5',
    max_output: 8000,
    silence_seconds: 90,
    thinking: 'adaptive',
    effort: 'low',
    headers: { 'anthropic-beta': 'token-efficient-tools-2025-02-19' },
    initial_files: ['docs/map.md'],
    providers: {
      local: {
        provider: 'openai',
        base_url: 'http://127.0.0.1:8080/v1',
        window: 32_000,
        thinking: 1024,
      },
    },
  })
  const config = { ...parseConfig({}, 'config.yaml'), api: read }
  expect(configuredCompactionPoint('api', undefined, config)).toBe(992_000)
  expect(configuredCompactionPoint('api:local', 'small', config)).toBe(24_000)
  expect(configuredCompactionPoint('api:local', undefined, config)).toBeUndefined()
  expect(configuredCompactionPoint('claude', 'claude-sonnet-5', config)).toBeUndefined()
  expect(read).toEqual({
    usual: {
      provider: 'anthropic',
      baseUrl: 'https://api.anthropic.com',
      model: 'claude-sonnet-5',
      maxOutput: 8000,
      silenceSeconds: 90,
      thinking: 'adaptive',
      effort: 'low',
      headers: { 'anthropic-beta': 'token-efficient-tools-2025-02-19' },
      initialFiles: ['docs/map.md'],
    },
    providers: {
      local: {
        provider: 'openai',
        baseUrl: 'http://127.0.0.1:8080/v1',
        window: 32_000,
        thinking: 1024,
        headers: {},
        initialFiles: [],
      },
    },
  })
})

test.each([
  [{ model: 'm' }, '"api.provider" is anthropic or openai'],
  [{ provider: 'openai', url: 'x' }, 'there is no setting "api.url"'],
  [
    { provider: 'openai', base_url: 'ftp://x' },
    '"api.base_url" must be an address with http or https',
  ],
  [
    { provider: 'openai', base_url: 'https://me:pw@x.example' },
    '"api.base_url" must not hold a name or a password',
  ],
  [{ provider: 'openai', key_env: 'sk-1234-5678' }, '"api.key_env" is the name of a variable'],
  [
    { provider: 'openai', headers: { Authorization: 'Bearer x' } },
    '"api.headers.Authorization" would put a key into a file',
  ],
  [
    { provider: 'openai', headers: { 'x-a': 'one\r\nx-b: two' } },
    '"api.headers.x-a" must be a header and its text',
  ],
  [{ provider: 'openai', window: 0 }, '"api.window" must be a whole number of tokens'],
  [
    { provider: 'openai', silence_seconds: 301 },
    '"api.silence_seconds" must be a number of seconds, up to 300',
  ],
  [{ provider: 'openai', silence_seconds: 0 }, '"api.silence_seconds" must be a number of seconds'],
  [
    { provider: 'openai', window: 4000, max_output: 4000 },
    '"api.max_output" must be below "api.window"',
  ],
  [
    { provider: 'anthropic', thinking: 900, max_output: 800 },
    '"api.thinking" must be below "api.max_output"',
  ],
  [{ provider: 'openai', initial_files: 'a' }, '"api.initial_files" must be a list of texts'],
  [
    { providers: { local: { provider: 'local' } } },
    '"api.providers.local.provider" is anthropic or openai',
  ],
  [{ providers: [] }, '"api.providers" must hold settings'],
])('names the mistake in %j', (section, message) => {
  expect(() => api(section)).toThrow(message)
})

test('a model API is a harness; without settings it names the ones it needs', async () => {
  const project = gitProject()
  project.write(
    '.sessions/config.yaml',
    'api:\n  providers:\n    local: { provider: openai, base_url: "http://localhost:1/v1" }\n',
  )
  const workspace = new Workspace(project.root)
  expect(drivableNames(workspace.config.api)).toContain('api:local')
  expect(await loadHarness('api:local', workspace)).toMatchObject({
    name: 'api:local',
    capabilities: { resume: true, systemPrompt: true },
  })
  await expect(loadHarness('api', workspace)).rejects.toThrow(
    expect.objectContaining({
      code: 'NO_MODEL',
      hint: 'set provider and model under api, or use api:local',
    }),
  )
  await expect(loadHarness('api:other', workspace)).rejects.toThrow(
    expect.objectContaining({ code: 'NO_MODEL' }),
  )
})
