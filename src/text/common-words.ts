// Each is one token in every vocabulary we test, also capitalised or after a space.
export const COMMON_WORDS = `
  abort about above absolute accept access account accuracy action actions active activity actual actually add added
  adding additional address adds advanced after again agent agents algorithm alias align all allow allows almost along
  alpha already also alternative although always among amount an analysis anchor and another answer any anything
  apache api app append apple application apply archive are args argument arguments around array as assembly assert
  assign assistant async at attempt attribute attributes audit auth author authorization auto automatic available
  average away back backend background backup bad base based basic batch be because before begin behavior being below
  benchmark best beta better between big bill binary bind binding blank block blue board body bold boolean boss both
  bound branch break broken browser buffer bug build builder building built bullet bundle but button by byte bytes
  cache calendar call callback called calling calls camp can cancel candidate cannot capture cart case cases catch
  cause cell cells center chain change changed changes changing channel channels char character charge chat check
  checking checks child children choice choices choose chrome city claim class classes clean cleanup clear cli client
  clock clone close cloud code collect colon color colors colour column columns come command commands comment comments
  commit common community compare comparison compile compiler complete completed complex component concept condition
  conditional conditions config configuration configure confirm connect connection console const constant constants
  constructor consumer container contains content contents context continue contract control conversion convert
  converter copy core correct cost could count counter country counts create created creates creating creation
  critical cross crypto current currently cursor custom customer cycle damage dark data database dataset date days
  dead debug decision decode deep default defaults define delay delete delivery delta demo dependency deprecated depth
  description design detail details detect development did diff difference different digest direct direction directory
  disable disk display dist distribution do doc document documentation documents does doing domain done double down
  download draft draw driver drop dummy dump duplicate duration during dynamic each early easy echo edit editor effect
  either element else email employee empty enable encode encoding end english enter entries entry env environment
  equal error errors escape eval even event events ever every everything exact example examples except exception exec
  execute execution existing exit expand expect expected experimental explicit export expression extension external
  extra extract fact factory fail failed failure fair false family far fast fault feature features feedback few field
  fields figure file filename files fill filter filters final finally find finding fine finish fire first fish five
  fix fixed flag flags flash flat float floor folder follow following for force foreign form format forward found four
  frame framework free fresh from front full func function functions future game gate general generate generated
  generator generic get gets getting git give given global go goal going good google graph great greater green group
  groups guard guide hand handle handler hard has hash have having he head header height hello help helper here hidden
  hide high hint history hits hold holder home hook host hour hours how human id identifier identity if ignore image
  images impact implement implementation import important in include includes increase index info information init
  initial initialize inline inner input inputs insert inside install instance instant instead instruction integer
  integration intent interactive interface internal into invalid is issue it item items iter iterator its job join
  journal json just keep key keys kill kind know known label labels lang language large last late later latin layer
  lazy lead learn leave left legacy length less let letter letters level library license life light like limit line
  lines link linked links list lists literal little live load loader loading loads local location lock log login logs
  long look looking loop loss lost low lower machine made magic mail main major make makes making manage management
  manager manifest manual many map mapping maps mark markdown marker marks master match matches math matrix may maybe
  me mean means measure media median medium member memory merge message messages meta metadata method methods middle
  migration mine mini minimum minor minutes missing mixed mode model models modern modified modify module modules
  moment month more most mount move much multi multiple music must my name named names namespace native near need
  needed nested network never new news next night nine no node nodes none not note notes nothing notice notification
  notify now null number numbers object objects of official offset ok old on once one only open opening operation
  operations option optional options or order ordered orders original other others our out output outputs outside over
  override own owner pack package page pages pair paragraph parallel param parameter parameters params parent parse
  parser part partial parts pass passed password past patch path pattern payment pending people per percent
  performance permission person phase phone photo pick picture piece pipe pipeline place places plain plan platform
  player please plot plugin plugins plus point pointer points policy pool port position possible post power prefix
  prepare present pretty previous price print priority private probably probe problem proc process product production
  program progress project projects proof prop properties property proto protocol provide provider proxy public
  published pull pure purpose push put python query question questions queue quick quote race raise raised rand random
  range rank rate ratio read reader reading ready real really reason receive received recent record records reduce
  refer reference references refresh regex region register registry regular reject related relative release remaining
  remember remote remove removed rename render repeat replace reply repo report reports repository represent request
  requests require required research reset resolution resolver response rest restore result results retry return
  returns review rich right role room root round route row rule rules run runner running runs runtime safe same sample
  samples save saved say scalar scan scanner scene schema scheme scope score screen script search second secret
  section sections security see seed seen segment select self send sent sequence serve server service session set sets
  setting settings setup shape share shared shell ship short should show shows side sign signal signature similar
  simple simulation since single site six size skill skip sleep slice slow small smart so software some something soon
  sort sorted sound source sources space spec special specific speed split square stack stage stand standard star
  stars start starting stat state statement states static stats status stay step steps still stop storage store stores
  story stream strict string strings strip strong structure stub style subject submit success such suite summary super
  support supported sure switch symbol sync syntax system systems table tables tag tags tail take taken taking talk
  target task tasks team technical tell temp template temporary ten terminal terms test testing tests text than that
  the their then there these they thing things think third this those though thread three threshold through throw tick
  ticket time timeout times timestamp title to today todo toggle token tool tools top total touch trace track tracking
  transaction transform tree trigger true trust truth try tuple turn two type typed types ui under unicode union
  unique unit unknown unless unsupported until up update updated updates upon upper url us usage use used user
  username users uses using util utility utils valid validate validation value values variable variables verify
  version very via video view views visit visitor wait waiting walk walker wall want warning was watch way we web week
  weight well were what whatever when where whether which while who whole why width wiki will window windows with
  within without word words work worker workflow working works workspace world would wrap wrapper write writer writing
  written wrong year years yes yet you your zero zone
`.trim()
