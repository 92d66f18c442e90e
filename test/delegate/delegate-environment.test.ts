import { describe, expect, test } from 'vitest'
import { DEFAULT_DELEGATES } from '../../src/project/config/run-config.ts'
import { delegateEnvironment, delegateWrap } from '../../src/run/delegate/delegate-context.ts'

const order = { name: 'tests-1', slot: 3 }
const settings = { ...DEFAULT_DELEGATES, portBase: 21_000, ports: 10 }
const environment = (...env: readonly string[]) =>
  delegateEnvironment(order, '/trees/a b', { ...settings, env })
const wrap = (line: string) => delegateWrap(order, '/trees/a b', { ...settings, wrap: line })

describe('the environment of a delegate', () => {
  test('has its name and ports no other slot has', () => {
    expect(environment()).toEqual({
      STINT_DELEGATE: 'tests-1',
      STINT_PORT: '21030',
      STINT_PORTS: '10',
    })
    const first = (slot: number) =>
      Number(delegateEnvironment({ name: 'x', slot }, '/t', settings)['STINT_PORT'])
    expect([0, 1, 2].map(first)).toEqual([21_000, 21_010, 21_020])
  })

  test('has the configured variables, filled in', () => {
    expect(
      environment(
        'PORT={port}',
        'API=http://localhost:{port+9}/{name}',
        'DB=db{slot}',
        'TMPDIR={tree}/tmp',
        'A=b=c',
        'EMPTY=',
      ),
    ).toMatchObject({
      PORT: '21030',
      API: 'http://localhost:21039/tests-1',
      DB: 'db3',
      TMPDIR: '/trees/a b/tmp',
      A: 'b=c',
      EMPTY: '',
    })
  })

  test('keeps braces that are not a placeholder', () => {
    expect(environment('JSON={"a": {}}', 'FORMAT={{.Name}}', 'FIRST={1}')).toMatchObject({
      JSON: '{"a": {}}',
      FORMAT: '{{.Name}}',
      FIRST: '{1}',
    })
  })

  test('keeps its own name and ports even if the configuration sets others', () => {
    expect(environment('STINT_PORT=1', 'STINT_DELEGATE=x')).toMatchObject({
      STINT_PORT: '21030',
      STINT_DELEGATE: 'tests-1',
    })
  })

  test.each([
    ['A={prot}', /delegates\.env: there is no \{prot\}/],
    ['A={slot+1}', /there is no \{slot\+1\}/],
    ['A={constructor}', /there is no \{constructor\}/],
    ['A={port+10}', /\{port\+10\} is too far: delegates\.ports is 10/],
  ])('is refused for %j', (line, message) => {
    expect(() => environment(line)).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringMatching(message) }),
    )
  })

  test('is refused where its ports would exceed 65535', () => {
    const at = (portBase: number) => () =>
      delegateEnvironment(order, '/t', { ...settings, portBase })
    expect(at(65_496)).not.toThrow()
    expect(at(65_497)).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: expect.stringMatching(/65527 to 65536/),
      }),
    )
  })
})

describe('the wrap command of a delegate', () => {
  test('is none unless configured', () => {
    expect(delegateWrap(order, '/t', settings)).toBeUndefined()
  })

  test('is split into words before placeholders are filled in', () => {
    expect(
      wrap(
        'docker run --rm -i -v {tree}:{tree} -p {port}:80 --name "stint {name}" -e A=\'$B\' image',
      ),
    ).toEqual([
      'docker',
      'run',
      '--rm',
      '-i',
      '-v',
      '/trees/a b:/trees/a b',
      '-p',
      '21030:80',
      '--name',
      'stint tests-1',
      '-e',
      'A=$B',
      'image',
    ])
  })

  test('is refused for an unclosed quote or an unknown placeholder', () => {
    expect(() => wrap("docker 'run")).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
    expect(() => wrap('docker run {treee}')).toThrow(
      expect.objectContaining({
        message: expect.stringContaining('delegates.wrap: there is no {treee}'),
      }),
    )
  })
})
