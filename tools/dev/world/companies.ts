import { Chance } from './chance.ts';
import type { Moment, Story } from './lineage.ts';
import { leiOf } from './lei.ts';
import { entryOf } from './parties.ts';
import {
  appointed,
  carried,
  changed,
  corrected,
  lapsed,
  licencesOf,
  licensed,
  madeChair,
  moved,
  owned,
  ownersOf,
  raised,
  raisedBy,
  renamed,
  reported,
  resigned,
  withoutEvidence,
} from './steps.ts';

/** A company of the world. Companies and people are fictional. */
interface Company {
  tenant: 'acme' | 'beta' | 'gamma';
  id: string;
  name: string;
  form: string;
  country: string;
  seat: readonly [street: string, postalCode: string, city: string];
  register: string;
  number: string;
  founded: string;
  activity: string;
  capital: readonly [currency: string, amount: number];
  officers: readonly (readonly [name: string, role: string])[];
  owners: readonly (readonly [name: string, percent: number])[];
  licences?: readonly (readonly [kind: string, number: string])[];
  /** Completes the record for a credential of the type `company_info`. */
  credential?: { readonly euid: string; readonly employees: number };
  /** Days ago. */
  since: number;
  /** Notable changes. */
  moments: readonly Moment[];
  /** The number of further versions, with routine changes. */
  routine: number;
}

const COMPANIES: readonly Company[] = [
  {
    tenant: 'acme',
    id: 'northgate-components',
    name: 'Northgate Components Limited',
    form: 'Private limited company',
    country: 'GB',
    seat: ['14 Foundry Lane', 'LS10 0ZZ', 'Leeds'],
    register: 'Companies House',
    number: '99000117',
    founded: '1987-03-12',
    activity: '25.62 Machining',
    capital: ['GBP', 250_000],
    officers: [
      ['Moira Tennant', 'director'],
      ['Callum Ashby', 'director'],
      ['Priya Raman', 'company secretary'],
    ],
    owners: [
      ['Moira Tennant', 60],
      ['Callum Ashby', 40],
    ],
    since: 729,
    moments: [
      [655, moved('2 Canal Wharf', 'LS11 0ZZ', 'Leeds')],
      [540, appointed('Daniel Okafor', 'director')],
      [401, renamed('Northgate Precision Limited')],
      [400, resigned('Callum Ashby'), owned(['Moira Tennant', 75], ['Daniel Okafor', 25])],
      [212, raised(400_000)],
      [95, madeChair('Daniel Okafor')],
      [31, carried(moved('2a Canal Wharf', 'LS11 0ZZ', 'Leeds'))],
    ],
    routine: 21,
  },
  {
    tenant: 'acme',
    id: 'halden-verft',
    name: 'Haldenfjord Verft AS',
    form: 'Aksjeselskap',
    country: 'NO',
    seat: ['Kaigata 8', '1767', 'Halden'],
    register: 'Brønnøysundregistrene',
    number: '999 000 214',
    founded: '1954-06-01',
    activity: '30.11 Building of ships',
    capital: ['NOK', 12_000_000],
    officers: [
      ['Sigrid Aune', 'daglig leder'],
      ['Øystein Brekke', 'styreleder'],
    ],
    owners: [
      ['Brekke Holding AS', 51],
      ['Ansatte i Haldenfjord', 49],
    ],
    licences: [['Shipyard permit', 'NO-SKV-0177']],
    since: 726,
    moments: [
      [610, raised(18_000_000)],
      [333, resigned('Øystein Brekke'), appointed('Ingrid Løvås', 'styreleder')],
      [120, lapsed('NO-SKV-0177')],
      [44, licensed('Shipyard permit', 'NO-SKV-0231')],
    ],
    routine: 12,
  },
  {
    tenant: 'acme',
    id: 'bruma-textil',
    name: 'Bruma Têxtil, Lda.',
    form: 'Sociedade por quotas',
    country: 'PT',
    seat: ['Rua da Tecelagem 45', '4800-999', 'Guimarães'],
    register: 'Registo Comercial',
    number: '599000331',
    founded: '1999-11-30',
    activity: '13.20 Weaving of textiles',
    capital: ['EUR', 75_000],
    officers: [['Inês Valadares', 'gerente']],
    owners: [['Inês Valadares', 100]],
    since: 700,
    moments: [
      [488, corrected(owned(['Inês Valadares', 70], ['Rui Valadares', 30]))],
      [160, withoutEvidence(owned(['Inês Valadares', 50], ['Rui Valadares', 50]))],
    ],
    routine: 6,
  },
  {
    tenant: 'acme',
    id: 'kestrel-analytics',
    name: 'Kestrel Row Analytics, Inc.',
    form: 'Inc.',
    country: 'US',
    seat: ['1200 Fictional Avenue', '19899', 'Wilmington'],
    register: 'Delaware Division of Corporations',
    number: '9900418',
    founded: '2016-02-29',
    activity: '62.01 Computer programming',
    capital: ['USD', 1_000],
    officers: [
      ['Noor Haddad', 'president'],
      ['Gabriel Stone', 'treasurer'],
    ],
    owners: [
      ['Noor Haddad', 41],
      ['Gabriel Stone', 19],
      ['Long Pier Ventures II LP', 40],
    ],
    since: 728,
    moments: [
      [650, owned(['Noor Haddad', 35], ['Gabriel Stone', 15], ['Long Pier Ventures II LP', 50])],
      [430, moved('77 Placeholder Square, Floor 4', '19899', 'Wilmington')],
      [180, resigned('Gabriel Stone'), appointed('Wei Lin', 'treasurer')],
      [19, carried(renamed('Kestrel Row, Inc.'))],
    ],
    routine: 30,
  },
  {
    tenant: 'acme',
    id: 'oberland-molkerei',
    name: 'Oberlandmolkerei Gstein AG',
    form: 'Aktiengesellschaft',
    country: 'CH',
    seat: ['Käsereiweg 3', '3999', 'Gstein'],
    register: 'Handelsregister des Kantons Bern',
    number: 'CHE-999.000.512',
    founded: '1931-09-01',
    activity: '10.51 Operation of dairies',
    capital: ['CHF', 600_000],
    officers: [
      ['Vreni Zumstein', 'Verwaltungsratspräsidentin'],
      ['Ueli Gerber', 'Geschäftsführer'],
    ],
    owners: [['Genossenschaft der Milchbauern Gstein', 100]],
    licences: [['Food business approval', 'CH-9905']],
    since: 690,
    moments: [[275, resigned('Ueli Gerber'), appointed('Luca Bernasconi', 'Geschäftsführer')]],
    routine: 3,
  },
  {
    tenant: 'acme',
    id: 'lindqvist-papper',
    name: 'Lindqvist & Ek Papper AB',
    form: 'Aktiebolag',
    country: 'SE',
    seat: ['Bruksgatan 21', '999 31', 'Norrköping'],
    register: 'Bolagsverket',
    number: '559900-0617',
    founded: '1968-04-17',
    activity: '17.12 Manufacture of paper',
    capital: ['SEK', 5_000_000],
    officers: [
      ['Elsa Lindqvist', 'verkställande direktör'],
      ['Nils Ek', 'ordförande'],
    ],
    owners: [
      ['Lindqvist Förvaltning AB', 55],
      ['Ek Invest AB', 45],
    ],
    since: 365,
    moments: [[90, carried(owned(['Lindqvist Förvaltning AB', 100]))]],
    routine: 4,
  },
  {
    tenant: 'acme',
    id: 'moulin-dore',
    name: 'Moulin Doré des Aubrais SARL',
    form: 'SARL',
    country: 'FR',
    seat: ['9 chemin du Moulin', '45999', 'Les Aubrais'],
    register: 'RCS Orléans',
    number: '999 000 719',
    founded: '2003-01-20',
    activity: '10.61 Manufacture of grain mill products',
    capital: ['EUR', 8_000],
    officers: [['Hélène Carpentier', 'gérante']],
    owners: [['Hélène Carpentier', 100]],
    credential: { euid: 'FR4502.999000719', employees: 6 },
    since: 60,
    moments: [],
    routine: 0,
  },
  {
    tenant: 'acme',
    id: 'tsubaki-optics',
    name: '椿坂光学株式会社',
    form: '株式会社',
    country: 'JP',
    seat: ['架空町1丁目2-3', '999-0001', '諏訪市'],
    register: '法務局',
    number: '9990-01-000816',
    founded: '1972-10-02',
    activity: '26.70 Manufacture of optical instruments',
    capital: ['JPY', 90_000_000],
    officers: [
      ['椿坂 陽子', '代表取締役'],
      ['三好 健', '取締役'],
    ],
    owners: [['椿坂 陽子', 100]],
    since: 720,
    moments: [[310, appointed('長谷 真琴', '監査役')]],
    routine: 7,
  },
  {
    tenant: 'acme',
    id: 'al-waha-foods',
    name: 'شركة واحة السراب للأغذية ذ.م.م',
    form: 'LLC',
    country: 'AE',
    seat: ['شارع الخيال ١٢', '00000', 'الشارقة'],
    register: 'دائرة التنمية الاقتصادية',
    number: '990000915',
    founded: '2011-05-08',
    activity: '46.31 Wholesale of fruit and vegetables',
    capital: ['AED', 300_000],
    officers: [['ليلى المنصوري', 'مدير']],
    owners: [['ليلى المنصوري', 100]],
    since: 500,
    moments: [[77, moved('شارع الخيال ١٤', '00000', 'الشارقة')]],
    routine: 5,
  },
  {
    tenant: 'beta',
    id: 'brightwater-energie',
    name: 'Hellwasser Energie GmbH',
    form: 'GmbH',
    country: 'DE',
    seat: ['Am Umspannwerk 1', '99999', 'Musterstadt'],
    register: 'Amtsgericht Musterstadt',
    number: 'HRB 990011',
    founded: '2009-08-14',
    activity: '35.11 Production of electricity',
    capital: ['EUR', 25_000],
    officers: [
      ['Katharina Voss', 'Geschäftsführerin'],
      ['Timo Brandt', 'Prokurist'],
    ],
    owners: [
      ['Voss Beteiligungs GmbH', 74],
      ['Stadtwerke Musterstadt', 26],
    ],
    licences: [['Network connection permit', 'DE-BNA-99-114']],
    since: 730,
    moments: [
      [580, raised(1_000_000)],
      [402, resigned('Timo Brandt')],
      [399, appointed('Mehmet Kaya', 'Prokurist')],
      [140, moved('Hafenstraße 12', '99998', 'Musterstadt')],
      [26, lapsed('DE-BNA-99-114')],
    ],
    routine: 32,
  },
  {
    tenant: 'beta',
    id: 'polder-en-zoon',
    name: 'Polderman & Zoon B.V.',
    form: 'B.V.',
    country: 'NL',
    seat: ['Dijkweg 101', '9999 ZZ', 'Westpolder'],
    register: 'Kamer van Koophandel',
    number: '99001217',
    founded: '1978-12-05',
    activity: '01.19 Growing of flowers',
    capital: ['EUR', 18_000],
    officers: [['Jan-Willem Polderman', 'bestuurder']],
    owners: [['Jan-Willem Polderman', 100]],
    since: 640,
    moments: [
      [365, appointed('Femke Polderman', 'bestuurder')],
      [364, owned(['Jan-Willem Polderman', 50], ['Femke Polderman', 50])],
      [12, resigned('Jan-Willem Polderman')],
    ],
    routine: 9,
  },
  {
    tenant: 'beta',
    id: 'corrib-pharma',
    name: 'Corribwell Pharma DAC',
    form: 'Designated activity company',
    country: 'IE',
    seat: ['Unit 9, Quay Park', 'H91 Z9Z9', 'Galway'],
    register: 'Companies Registration Office',
    number: '990131',
    founded: '2014-07-01',
    activity: '21.20 Manufacture of pharmaceutical preparations',
    capital: ['EUR', 5_000_000],
    officers: [
      ['Aoife Garvey', 'director'],
      ['Brendan Tully', 'director'],
      ['Siobhán Keane', 'secretary'],
    ],
    owners: [['Corribwell Group plc', 100]],
    licences: [
      ['Manufacturing authorisation', 'M99131/00001'],
      ['Wholesale authorisation', 'W99131/00001'],
    ],
    since: 715,
    moments: [
      [505, licensed('Controlled substances', 'CD99131')],
      [330, resigned('Brendan Tully'), appointed('Marta Kowal', 'director')],
      [63, withoutEvidence(licensed('Clinical trials', 'CT99131'))],
    ],
    routine: 17,
  },
  {
    tenant: 'beta',
    id: 'vltava-glass',
    name: 'Vltavské sklo Podhradí s.r.o.',
    form: 's.r.o.',
    country: 'CZ',
    seat: ['Sklářská 7', '999 01', 'Podhradí'],
    register: 'Obchodní rejstřík',
    number: '99001418',
    founded: '1993-05-20',
    activity: '23.13 Manufacture of hollow glass',
    capital: ['CZK', 200_000],
    officers: [['Zuzana Hrubá', 'jednatelka']],
    owners: [
      ['Zuzana Hrubá', 34],
      ['Pavel Šimek', 66],
    ],
    since: 420,
    moments: [[200, renamed('Sklárna Podhradí s.r.o.')]],
    routine: 5,
  },
  {
    tenant: 'beta',
    id: 'sava-shipping',
    name: 'Savski Brod Prijevoz d.o.o.',
    form: 'd.o.o.',
    country: 'HR',
    seat: ['Riječna ulica 15', '99999', 'Sisak'],
    register: 'Sudski registar',
    number: '990001511',
    founded: '2001-03-03',
    activity: '50.40 Inland freight water transport',
    capital: ['EUR', 2_650],
    officers: [['Dario Matić', 'direktor']],
    owners: [['Dario Matić', 100]],
    since: 300,
    moments: [
      [150, changed('legal', { status: 'in liquidation' })],
      [20, changed('legal', { status: 'dissolved' })],
    ],
    routine: 2,
  },
  {
    tenant: 'beta',
    id: 'tramuntana-hotels',
    name: 'Hotels Vent de Dalt, S.L.',
    form: 'S.L.',
    country: 'ES',
    seat: ['Carrer de la Mar 33', '17999', 'Cadaquès'],
    register: 'Registro Mercantil de Girona',
    number: 'B99001618',
    founded: '1989-02-14',
    activity: '55.10 Hotels',
    capital: ['EUR', 1_200_000],
    officers: [
      ['Montserrat Puig', 'administradora'],
      ['Álvaro Rey', 'apoderado'],
    ],
    owners: [
      ['Puig Patrimonial, S.L.', 80],
      ['Álvaro Rey', 20],
    ],
    licences: [['Tourist establishment', 'HG-099161']],
    since: 711,
    moments: [
      [390, appointed('Núria Puig', 'administradora')],
      [55, carried(resigned('Álvaro Rey'))],
    ],
    routine: 14,
  },
  {
    tenant: 'gamma',
    id: 'aurora-saastopankki',
    name: 'Revontulen Säästöpankki Oyj',
    form: 'Julkinen osakeyhtiö',
    country: 'FI',
    seat: ['Pankkikatu 4', '99990', 'Rovaniemi'],
    register: 'Kaupparekisteri',
    number: '9900171-7',
    founded: '1923-01-15',
    activity: '64.19 Other monetary intermediation',
    capital: ['EUR', 40_000_000],
    officers: [
      ['Aino Halla', 'toimitusjohtaja'],
      ['Mikko Tuuri', 'hallituksen puheenjohtaja'],
    ],
    owners: [['Revontulen Säästöpankkisäätiö', 100]],
    licences: [['Credit institution', 'FIVA-99017']],
    since: 727,
    moments: [
      [350, resigned('Mikko Tuuri'), appointed('Eeva Rautio', 'hallituksen puheenjohtaja')],
      [130, raised(55_000_000)],
    ],
    routine: 11,
  },
  {
    tenant: 'gamma',
    id: 'caldera-assicurazioni',
    name: 'Cratere Assicurazioni S.p.A.',
    form: 'S.p.A.',
    country: 'IT',
    seat: ['Via Immaginaria 18', '80999', 'Napoli'],
    register: 'Registro delle Imprese',
    number: 'NA-990018',
    founded: '1961-06-21',
    activity: '65.12 Non-life insurance',
    capital: ['EUR', 22_000_000],
    officers: [
      ['Giulia Esposito', 'amministratore delegato'],
      ['Paolo Ferrante', 'presidente'],
    ],
    owners: [
      ['Cratere Holding S.r.l.', 90],
      ['Paolo Ferrante', 10],
    ],
    licences: [['Insurance undertaking', 'IVASS-9.00018']],
    since: 705,
    moments: [
      [233, lapsed('IVASS-9.00018')],
      [230, licensed('Insurance undertaking', 'IVASS-9.00044')],
    ],
    routine: 8,
  },
  {
    tenant: 'gamma',
    id: 'zephyr-payments',
    name: 'Žiburio Mokėjimai, UAB',
    form: 'UAB',
    country: 'LT',
    seat: ['Svajonių g. 5-2', 'LT-99999', 'Vilnius'],
    register: 'Juridinių asmenų registras',
    number: '399000194',
    founded: '2019-09-09',
    activity: '66.19 Activities auxiliary to financial services',
    capital: ['EUR', 350_000],
    officers: [['Rasa Petrauskaitė', 'vadovė']],
    owners: [['Northern Lantern Fintech Ltd', 100]],
    licences: [['Electronic money institution', 'LB-99-019']],
    since: 610,
    moments: [
      [5, lapsed('LB-99-019')],
      [3, changed('legal', { status: 'under resolution' })],
    ],
    routine: 5,
  },
];

const CLERKS = [
  'R. Amador',
  'T. Bielak',
  'S. Castellan',
  'D. Eriksen',
  'P. Fontaine',
  'J. Hollis',
  'M. Ivanova',
  'K. Nakata',
] as const;

export const COMPANY_STORIES: readonly Story[] = COMPANIES.map((company, index) => ({
  tenant: company.tenant,
  type: 'organization',
  id: company.id,
  register: company.register,
  since: company.since,
  first: firstOf(company, index + 1),
  moments: [...company.moments, ...routineOf(company)],
}));

function firstOf(company: Company, number: number): Story['first'] {
  const {
    name,
    form,
    country,
    seat,
    officers,
    owners,
    licences = [],
    capital,
    founded,
    activity,
    credential,
  } = company;
  const [street, postalCode, city] = seat;
  return {
    legal: {
      ...{ legal_name: name, legal_form: form, status: 'active', founded, activity },
      ...(credential === undefined ? {} : { employees: credential.employees }),
    },
    jurisdiction: { country },
    address: { street, postal_code: postalCode, city, country },
    identifiers: {
      ...{ registration_number: company.number, lei: leiOf(number) },
      ...(credential === undefined ? {} : { euid: credential.euid }),
    },
    capital: { currency: capital[0], amount: String(capital[1]) },
    officers: Object.fromEntries(officers.map(([officer, role]) => entryOf(officer, { role, since: founded }))),
    owners: ownersOf(owners),
    ...(licences.length === 0 ? {} : { licences: licencesOf(licences, founded) }),
    contact: { email: `office@${company.id}.example`, website: `https://${company.id}.example` },
  };
}

/** Returns routine changes: pseudo-random, and the same at each start. */
function routineOf({ id, since, routine, capital: [currency], moments }: Company): Moment[] {
  const chance = new Chance(id);
  const taken = new Set(moments.map(([daysAgo]) => daysAgo));
  const days: number[] = [];
  while (days.length < routine) {
    const day = chance.between(1, since - 1);
    if (!taken.has(day)) days.push(day);
    taken.add(day);
  }
  const clerks = new Set<string>();
  const [mailboxes, lines] = [
    endlessly('info', 'mail', 'hello', 'office'),
    endlessly('101', '246', '370', '555', '912'),
  ];
  let revenue = chance.between(8, 90) * 100_000;
  let employees = chance.between(6, 140);
  return days
    .sort((one, other) => other - one)
    .map((day): Moment => {
      switch (chance.of('accounts', 'accounts', 'accounts', 'clerk', 'clerk', 'mail', 'telephone', 'capital')) {
        case 'accounts': {
          revenue = Math.round((revenue * chance.between(94, 108)) / 100);
          employees += chance.between(-3, 4);
          const figures = reported(currency, revenue, employees);
          return [day, chance.next() < 0.1 ? carried(figures) : figures];
        }
        case 'mail':
          return [day, changed('contact', { email: `${mailboxes()}@${id}.example` })];
        case 'telephone':
          return [day, changed('contact', { telephone: `+44 20 7946 0${lines()}` })];
        case 'capital':
          return [day, raisedBy(5)];
        case 'clerk': {
          const clerk = chance.of(...CLERKS);
          const isThere = clerks.delete(clerk);
          if (!isThere) clerks.add(clerk);
          return [day, isThere ? resigned(clerk) : appointed(clerk, 'authorised signatory')];
        }
      }
    });
}

/** Returns a function that returns the next value on each call, and starts over after the last. */
function endlessly(...all: readonly string[]): () => string {
  let turn = 0;
  return () => all[turn++ % all.length] ?? '';
}
