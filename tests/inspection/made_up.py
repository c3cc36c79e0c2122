"""Columns that are made up: 60 that name or reach people, and 60 that ordinary tables have.

Names, places and labels are written here, apart from the lists that ship. Rare names are among
them, which no list has.
"""
# ruff: noqa: E501, SIM905 - columns are read a line each

from __future__ import annotations

import random

Column = tuple[str, list[str]]


def drawn(labels, rows=600, seed=1):
    """Return so many cells, some labels more frequent than others."""
    chance = random.Random(seed)
    weights = [1 / (1 + place) ** 0.5 for place in range(len(labels))]
    return chance.choices(labels, weights, k=rows)


def crossed(first, last, shape="{} {}", rows=600, seed=1, distinct=80):
    """Return cells of two words each, by a shape."""
    chance = random.Random(seed)
    made = [shape.format(chance.choice(first), chance.choice(last)) for _ in range(distinct)]
    return drawn(made, rows, seed)


def split(text):
    return [one.strip() for one in text.replace("\n", " ").split(";") if one.strip()]


EN = "Oliver Amelia George Harriet Declan Wendy Rhys Imogen Trevor Maureen Colin Tabitha Gareth Nigel Beverley Shaun".split()
EN_LAST = "Hughes Ramsbottom Patel Whitaker Thompson Okafor Davies Birtwistle Clarke Robinson Ainsworth Walker Entwistle Evans Murphy Harrington".split()
DE = "Heike Torsten Annegret Detlef Sigrid Jörg Lieselotte Holger Friederike Rüdiger Edeltraud Kai Svenja Malte Ortrud Hartmut".split()
DE_LAST = "Hoffmann Krawczyk Schäfer Zimmermann Ostermeier Krüger Lehmann Pfannenschmidt Vogel Köhler Brunnhuber Schulze Neumann Tietjen Wagner Kaltenbach".split()
FR = "Aurélie Thibault Ghislaine Fabrice Océane Loïc Mireille Yannick Solange Didier Élodie Gaëtan Brigitte Cédric Josiane Rémi".split()
FR_LAST = "Lefebvre Moreau Girard Bonnet Rousseau Quéméner Fournier Lambert Delacroix Le Gall Mercier Blanchard Chauvin Perrin Gauthier Marchand".replace(
    "Le Gall", "LeGall"
).split()
ES = "Begoña Ignacio Rocío Gonzalo Montserrat Íñigo Consuelo Agustín Yolanda Ricardo Soledad Emilio Inmaculada Joaquín Nuria Andrés".split()
ES_LAST = "Fernández Etxeberria Gutiérrez Navarro Domínguez Zubizarreta Vázquez Ortega Castillo Iglesias Villaescusa Ramírez Sanz Herrero Cabrera Montoya".split()
IT = "Giuseppe Alessandra Lorenzo Chiara Massimo Ornella Vincenzo Federica Salvatore Ilaria Gennaro Loredana Matteo Giulia".split()
IT_LAST = "Rossi Esposito Bianchi Ricci Scognamiglio Marino Conti Galli Caruso Quattrocchi Ferrara Santoro Rinaldi De_Luca".replace(
    "_", " "
).split()
PL = "Agnieszka Krzysztof Małgorzata Zbigniew Katarzyna Wojciech Bożena Sławomir Grażyna Łukasz Jadwiga Mirosław".split()
PL_LAST = "Kowalski Wiśniewska Dąbrowski Lewandowska Zieliński Szymańska Wójcik Kamińska Kaczmarek Piotrowski Grabowska Pawlak".split()
TR = "Mehmet Ayşe Mustafa Fatma Emre Zeynep Hüseyin Elif Okan Gülşen Serkan Nurcan".split()
TR_LAST = (
    "Yılmaz Kaya Demir Şahin Çelik Yıldız Öztürk Aydın Arslan Kılıçdaroğlu Aslan Doğan".split()
)
IN = "Rajesh Priya Sanjay Lakshmi Vijay Sunita Anil Deepika Suresh Kavita Arjun Meera".split()
IN_LAST = "Sharma Iyer Gupta Reddy Mukherjee Nair Banerjee Chatterjee Verma Rao Deshpande Venkataraman".split()
AR = "Mohammed Fatima Ahmed Aisha Youssef Khadija Omar Zainab Ibrahim Maryam Hassan Layla".split()
AR_LAST = "Al-Hashimi Khalil Mansour Haddad El-Sayed Abdullah Nasser Saleh Hamdan Al-Masri Darwish Qasim".split()
RU = "Анна Сергей Ольга Дмитрий Наталья Алексей Татьяна Игорь Светлана Владимир Екатерина Михаил".split()
RU_LAST = "Иванова Петров Смирнова Кузнецов Попова Соколов Лебедева Козлов Новикова Морозов Волкова Зайцев".split()
EL = "Γιώργος Μαρία Δημήτρης Ελένη Κώστας Αικατερίνη Νίκος Βασιλική Παναγιώτης Σοφία Χρήστος Άννα".split()
EL_LAST = "Παπαδόπουλος Γεωργίου Νικολάου Οικονόμου Παπαδάκης Αθανασίου Δημητρίου Καραγιάννης Αντωνίου Βλάχος".split()
ZH = split(
    "王伟; 李娜; 张敏; 刘洋; 陈静; 杨光明; 赵丽; 黄志强; 周杰; 吴秀英; 徐磊; 孙桂英; 胡军; 朱婷; 高翔; 林晓东; 何平; 郭芳; 马超; 罗玉兰"
)
JA = split(
    "佐藤健; 鈴木一郎; 高橋美咲; 田中翔太; 伊藤陽子; 渡辺大輔; 山本さくら; 中村恵子; 小林拓也; 加藤愛; 吉田直樹; 山田花子; 佐々木誠; 松本純; 井上真央"
)
KO = split(
    "김민준; 이서연; 박지훈; 최수빈; 정예은; 강동현; 조은지; 윤재호; 장미영; 임성민; 한지우; 오세훈; 서현진; 신동엽; 권나라"
)
AR_SCRIPT = split(
    "محمد علي; فاطمة حسن; أحمد محمود; عائشة إبراهيم; يوسف خالد; مريم عبدالله; عمر سعيد; زينب حسين; خالد ناصر; ليلى أحمد; حسن محمد; نور علي"
)
HE = split(
    "דוד כהן; שרה לוי; משה מזרחי; רחל פרץ; יוסף ביטון; מרים אברהם; אברהם פרידמן; חנה כהן; יעקב לוי; אסתר דהן; נועה שפירא; דניאל כץ"
)
HI = split(
    "राम शर्मा; सीता गुप्ता; राजेश कुमार; प्रिया सिंह; अनिल वर्मा; सुनीता देवी; विजय यादव; मीना पटेल; संजय मिश्रा; गीता जोशी; अमित कुमार; पूजा सिंह"
)
VI = split(
    "Nguyễn Văn An; Trần Thị Bích; Lê Hoàng Nam; Phạm Thu Hà; Hoàng Minh Đức; Vũ Thị Lan; Đặng Quốc Bảo; Bùi Thị Mai; Đỗ Văn Hùng; Ngô Thanh Tâm; Nguyễn Thị Hoa; Trần Văn Long"
)
SV = "Björn Ingrid Lars Karin Anders Birgitta Mikael Astrid Göran Gunilla Håkan Elsa".split()
SV_LAST = "Johansson Lindqvist Andersson Bergström Nilsson Söderberg Eriksson Hallström Larsson Åkesson Gustafsson Holm".split()
HU = split(
    "Nagy Zoltán; Kovács Katalin; Tóth István; Szabó Ágnes; Horváth Gábor; Varga Ildikó; Kiss Ferenc; Molnár Zsuzsanna; Németh Attila; Farkas Erzsébet; Balogh Péter; Papp Judit"
)
NO_TEXT = "n/a"

SENTENCES = {
    "en": split(
        """She came in with her son and was very upset about the delay.; Patient says he cannot sleep since the accident.;
        Called twice, nobody was at home; we will try again on Monday.; He wants to speak to the manager about his bill.;
        Her neighbour is looking after the children.; Was told that the results had been sent to the wrong address.;
        They moved to Leeds last year and have not registered yet.; Please do not call before noon, she works nights.;
        I am happy with the service but the room was cold.; My husband has lost his job and we need help."""
    ),
    "de": split(
        """Frau M. hat angerufen und möchte einen neuen Termin.; Er ist seit gestern wieder zu Hause.; Die Tochter wird ihn am Freitag abholen.;
        Patient war sehr unruhig und wollte nicht bleiben.; Sie hat Angst, dass ihr Mann davon erfährt.; Wir haben ihm gesagt, dass er sich melden soll.;
        Bitte nicht vor zehn Uhr anrufen, sie arbeitet nachts.; Ich bin mit der Beratung nicht zufrieden gewesen."""
    ),
    "fr": split(
        """Elle est venue avec sa fille et elle était très fatiguée.; Il a dit que son père est malade depuis un mois.;
        Nous avons laissé un message, il ne répond pas.; Je ne suis pas contente de la réponse que vous avez donnée.;
        La voisine garde ses enfants quand elle travaille.; Il veut parler à son avocat avant de signer."""
    ),
    "es": split(
        """Ella dijo que su marido está en el hospital.; No quiere hablar con nadie de su familia.; Vino con su hija y estaba muy nerviosa.;
        Le hemos llamado dos veces y no ha contestado.; Me dijeron que el informe no es correcto.; Su madre vive con ellos desde el año pasado."""
    ),
    "ru": split("Она сказала, что её муж болен.; Он не хочет говорить с врачом.; Мы звонили ему вчера, но его не было дома.; Я не доволен ответом, который мне дали.; Её дочь живёт в другом городе."),
    "zh": split("她说她的丈夫已经住院三天了。; 病人今天早上没有来，我们打了电话。; 他不想和医生谈这件事。; 我的孩子在学校里被欺负了。; 邻居告诉我们他已经搬走了。"),
}  # fmt: skip


def sentences(language, distinct, rows=1000, junk=0.0):
    """Return remarks: sentences in which a word differs, each often."""
    told = SENTENCES[language]
    made = [
        f"{told[n % len(told)]} ({n // len(told)})" if n >= len(told) else told[n]
        for n in range(distinct)
    ]
    cells = drawn(made, rows)
    return with_junk(cells, junk)


def with_junk(cells, share, junk=("n/a", "-", "unknown", "?", "none")):
    chance = random.Random(7)
    return [chance.choice(junk) if chance.random() < share else one for one in cells]


def numbers(shape, distinct=60, seed=3):
    """Return cells by a shape in which # is any digit and @ any letter."""
    chance = random.Random(seed)
    made = [
        "".join(
            chance.choice("0123456789")
            if c == "#"
            else chance.choice("ABCDEFGHJK")
            if c == "@"
            else c
            for c in shape
        )
        for _ in range(distinct)
    ]
    return drawn(made)


def luhn(seed=5):
    chance = random.Random(seed)
    made = []
    for _ in range(60):
        body = [4] + [chance.randrange(10) for _ in range(14)]
        total = sum(sum(divmod(2 * d, 10)) if n % 2 == 0 else d for n, d in enumerate(body))
        made.append("".join(map(str, body)) + str(-total % 10))
    return made


IBANS = split(
    "DE89370400440532013000; GB82 WEST 1234 5698 7654 32; FR1420041010050500013M02606; CH93 0076 2011 6238 5295 7; ES9121000418450200051332; AT611904300234573201; NL91ABNA0417164300; IT60X0542811101000000123456; BE68539007547034; PL61109010140000071219812874; SE4550000000058398257466; DK5000400440116243"
)
STREETS = "Mill Church Station High Park Victoria Queen Elm Oak Maple Springfield".split()
STRASSEN = "Haupt Bahnhof Schiller Goethe Kirch Garten Linden Mozart Beethoven Dorf".split()

NAMING: dict[str, Column] = {
    "full names": ("x", crossed(EN, EN_LAST)),
    "full names, city": ("city", crossed(EN, EN_LAST)),
    "full names, region": ("region", crossed(DE, DE_LAST)),
    "full names, diagnosis": ("diagnosis", crossed(FR, FR_LAST)),
    "full names, type": ("type", crossed(ES, ES_LAST)),
    "names beside junk": ("x", with_junk(crossed(EN, EN_LAST), 0.7)),
    "given beside junk": ("value", with_junk(drawn(EN), 0.6)),
    "surnames beside junk": ("group1", with_junk(drawn(DE_LAST), 0.5)),
    "given, city": ("city", drawn(DE)),
    "given, en": ("x", drawn(EN)),
    "given, de": ("x", drawn(DE)),
    "given, fr": ("x", drawn(FR)),
    "given, es": ("x", drawn(ES)),
    "given, it": ("x", drawn(IT)),
    "given, lower": ("x", [one.lower() for one in drawn(EN)]),
    "given, ar": ("x", drawn(AR)),
    "surnames, en": ("x", drawn(EN_LAST)),
    "surnames, de": ("x", drawn(DE_LAST)),
    "surnames, fr": ("x", drawn(FR_LAST)),
    "surnames, es": ("x", drawn(ES_LAST)),
    "surnames, pl": ("x", drawn(PL_LAST)),
    "surnames, tr": ("x", drawn(TR_LAST)),
    "surnames, in": ("x", drawn(IN_LAST)),
    "surnames, sv": ("x", drawn(SV_LAST)),
    "surnames, upper": ("employer", [one.upper() for one in drawn(IT_LAST)]),
    "initial and surname": ("x", crossed("ABCDEFGHJKLM", EN_LAST, "{}. {}")),
    "two initials": ("unit", crossed("ABCDEFGHJKLM", DE_LAST, "{0}. K. {1}")),
    "surname and initial": ("x", crossed("ABCDEFGHJKLM", FR_LAST, "{1}, {0}.")),
    "initials": ("x", crossed("ABCDEFGHJKLM", "NOPRSTVW", "{}.{}.")),
    "initials, spaced": ("seen by", crossed("ABCDEFGHJKLM", "NOPRSTVW", "{}. {}.")),
    "last, first": ("x", crossed(EN_LAST, EN, "{}, {}")),
    "last, first, upper": ("category", [one.upper() for one in crossed(ES_LAST, ES, "{}, {}")]),
    "titles": (
        "x",
        crossed(
            ["Dr.", "Prof.", "Mrs.", "Mr"],
            "Quimby Ostrow Fennimore Tolland Vexley Umber".split(),
            distinct=20,
        ),
    ),
    "titles, de": ("station", crossed(["Herr", "Frau", "Dr."], DE_LAST)),
    "it": ("x", crossed(IT, IT_LAST)),
    "pl": ("x", crossed(PL, PL_LAST)),
    "tr": ("x", crossed(TR, TR_LAST)),
    "in": ("x", crossed(IN, IN_LAST)),
    "ar": ("x", crossed(AR, AR_LAST)),
    "sv": ("x", crossed(SV, SV_LAST)),
    "hu": ("x", drawn(HU)),
    "vi": ("x", drawn(VI)),
    "ru": ("x", crossed(RU, RU_LAST)),
    "ru, surnames": ("x", drawn(RU_LAST)),
    "el": ("x", crossed(EL, EL_LAST)),
    "zh": ("x", drawn(ZH)),
    "ja": ("x", drawn(JA)),
    "ko": ("x", drawn(KO)),
    "arabic": ("x", drawn(AR_SCRIPT)),
    "hebrew": ("x", drawn(HE)),
    "hindi": ("x", drawn(HI)),
    "e-mail": (
        "x",
        with_junk([f"{one.lower()}@mail{n % 9}.org" for n, one in enumerate(drawn(EN))], 0.8),
    ),
    "phones": ("area", numbers("+44 20 #### ####")),
    "phones, us": ("x", numbers("(###) ###-####")),
    "accounts": ("x", drawn(IBANS)),
    "cards": ("ref", drawn(luhn())),
    "social security": ("x", numbers("###-##-####")),
    "streets": ("place", crossed(range(1, 99), STREETS, "{} {} Street")),
    "streets, de": ("x", crossed(STRASSEN, range(1, 99), "{}straße {}")),
    "web": ("x", crossed(["facebook.com", "twitter.com"], EN, "https://www.{}/{}")),
    "inside": ("x", crossed(EN, EN_LAST, "case 12, contact {0}.{1}@post.net, open")),
    "remarks, en": ("x", sentences("en", 40)),
    "remarks, de": ("status", sentences("de", 40)),
    "remarks, fr": ("x", sentences("fr", 30)),
    "remarks, es": ("reason", sentences("es", 30)),
    "remarks, ru": ("x", sentences("ru", 25)),
    "remarks, zh": ("x", sentences("zh", 20)),
    "remarks beside junk": ("x", sentences("en", 40, junk=0.8)),
}

PLACES = split(
    "San Antonio; Santa Maria; Saint Paul; San Francisco; St. Louis; San Diego; Santa Ana; Saint-Denis; San José; Santa Rosa; São Paulo; Sankt Pölten; Saint John; San Juan; Santa Barbara; Saint-Étienne"
)
TOWNS = split(
    "Charlotte; Victoria; Florence; Madison; Jackson; Austin; Houston; Lincoln; Augusta; Savannah; Sydney; Adelaide; Paris; Berlin; Hamilton; Vienna; Orlando; Phoenix; Denver; Boston; Chelsea; Salem; Oxford; Albany; Trenton; Eugene; Lorraine; Santiago; Sofia; Valencia; Cordoba; Alexandria"
)
ROLES = split(
    "Baker; Cook; Miller; Taylor; Mason; Carpenter; Driver; Nurse; Farmer; Fisher; Judge; Shepherd; Butcher; Weaver; Potter; Gardener; Porter; Clerk; Teacher; Painter; Barber; Hunter; Mechanic; Waiter"
)

ORDINARY: dict[str, Column] = {
    "places": ("city", drawn(PLACES)),
    "places, x": ("x", drawn(PLACES)),
    "towns": ("city", drawn(TOWNS)),
    "towns, x": ("x", drawn(TOWNS)),
    "towns, de": ("Wohnort", drawn(split("Berlin; Hamburg; München; Köln; Frankfurt; Stuttgart; Düsseldorf; Leipzig; Dortmund; Essen; Bremen; Dresden; Hannover; Nürnberg; Duisburg; Bochum; Wuppertal; Bielefeld; Bonn; Münster; Karlsruhe; Mannheim; Augsburg; Sankt Augustin; Ludwigshafen; Friedrichshafen"))),
    "towns, fr": ("x", drawn(split("Paris; Marseille; Lyon; Toulouse; Nice; Nantes; Montpellier; Strasbourg; Bordeaux; Lille; Rennes; Reims; Saint-Étienne; Toulon; Le Havre; Grenoble; Dijon; Angers; Nîmes; Clermont-Ferrand; Villeurbanne; Aix-en-Provence"))),
    "countries": ("x", drawn(split("Germany; France; Georgia; Chad; Jordan; Israel; Italy; Spain; India; China; Brazil; Mexico; Cuba; Kenya; Mali; Norway; Sweden; Poland; Ireland; Jamaica; Dominican Republic; United States; Vietnam; Laos"))),
    "states": ("state", drawn(split("Virginia; Georgia; Carolina; Washington; Montana; Dakota; Texas; Ohio; Utah; Iowa; Maine; Florida; Nevada; Indiana; Tennessee; Delaware; Louisiana; Maryland; Oregon; Idaho"))),
    "states, short": ("x", drawn(split("N.Y.; N.J.; N.C.; S.C.; N.H.; N.D.; S.D.; N.M.; R.I.; W.V.; Calif.; Tex.; Mass.; Ohio; Utah; Conn.; Wash.; Ore.; Fla.; Mich."))),
    "counties": ("county", drawn(split("Jefferson County; Washington County; Franklin County; Jackson County; Lincoln County; Madison County; Clay County; Marion County; Monroe County; Union County; Wayne County; Montgomery County"))),
    "chinese cities": ("城市", drawn(split("北京; 上海; 广州; 深圳; 成都; 杭州; 武汉; 西安; 南京; 重庆; 天津; 苏州; 长沙; 青岛; 郑州; 大连"))),
    "japanese prefectures": ("x", drawn(split("東京都; 大阪府; 北海道; 愛知県; 福岡県; 神奈川県; 埼玉県; 千葉県; 兵庫県; 静岡県; 京都府; 広島県"))),
    "korean cities": ("x", drawn(split("서울; 부산; 대구; 인천; 광주; 대전; 울산; 수원; 창원; 고양; 성남; 청주"))),
    "russian cities": ("x", drawn(split("Москва; Казань; Самара; Омск; Уфа; Пермь; Воронеж; Волгоград; Краснодар; Саратов; Ростов; Тюмень; Иркутск; Хабаровск; Владивосток"))),
    "chinese diagnoses": ("诊断", drawn(split("高血压; 糖尿病; 肺炎; 胃炎; 哮喘; 骨折; 贫血; 肝炎; 中风; 肾结石; 白内障; 湿疹"))),
    "streets without numbers": ("district", drawn(split("Old Town; New Harbour; Riverside; Kings Cross; Queens Park; West End; Docklands; North Hill; Greenfield; Southgate; Market Square; Castle Hill"))),
    "hospitals": ("hospital", drawn(split("St. Mary's Hospital; King Edward Hospital; Saint Thomas Clinic; Royal Victoria Infirmary; Charité Berlin; Mount Sinai Hospital; Johns Hopkins Hospital; Mayo Clinic; Queen Elizabeth Hospital; St. Joseph Medical Center; Great Ormond Street; Klinikum Großhadern"))),
    "schools": ("school", drawn(split("Lincoln High School; Washington Elementary School; St. Patrick School; Jefferson Middle School; Martin Luther King School; Goethe-Gymnasium; Lycée Victor Hugo; Anne Frank Schule; Roosevelt High School; Madison Academy; Kennedy Elementary School; Franklin School"))),
    "companies": ("employer", drawn(split("Siemens; Bosch; Volkswagen; Deutsche Bank; Allianz; Johnson & Johnson; Procter & Gamble; Goldman Sachs; Wells Fargo; Walmart; Ford Motor; General Electric; Merck; Pfizer; Nestlé; Unilever; Morgan Stanley; Philips; Ericsson; Nokia"))),
    "roles": ("x", drawn(ROLES)),
    "jobs": ("job_title", drawn(split("Software engineer; Head of marketing; Registered nurse; Truck driver; Police officer; Primary school teacher; Legal secretary; Sales manager; Data analyst; Personal assistant; Civil engineer; Chief executive; Care worker; Shop assistant; Electrical fitter"))),
    "jobs, de": ("Beruf", drawn(split("Schneider; Koch; Bäcker; Maurer; Richter; Schmied; Müller; Fischer; Bauer; Schreiner; Lehrer; Krankenschwester; Maler; Gärtner; Metzger; Weber; Zimmermann; Förster"))),
    "species": ("species", drawn(split("Rosa canina; Iris germanica; Quercus robur; Bellis perennis; Viola odorata; Acer campestre; Salix alba; Betula pendula; Fagus sylvatica; Tilia cordata; Ulmus minor; Pinus nigra; Picea abies; Abies alba"))),
    "short species": ("organism", drawn(split("E. coli; S. aureus; K. pneumoniae; P. aeruginosa; E. faecalis; C. albicans; S. epidermidis; A. baumannii; H. influenzae; N. gonorrhoeae; C. difficile; M. tuberculosis"))),
    "flowers": ("x", drawn(split("Rose; Lily; Iris; Violet; Daisy; Jasmine; Heather; Tulip; Poppy; Orchid; Dahlia; Marigold; Hyacinth; Ivy; Holly"))),
    "months": ("x", drawn(split("January; February; March; April; May; June; July; August; September; October; November; December"))),
    "months, short": ("month", drawn(split("Jan; Feb; Mar; Apr; May; Jun; Jul; Aug; Sep; Oct; Nov; Dec"))),
    "months, es": ("x", drawn(split("enero; febrero; marzo; abril; mayo; junio; julio; agosto; septiembre; octubre; noviembre; diciembre"))),
    "grades": ("Note", drawn(split("1; 1-; 2+; 2; 2-; 3+; 3; 3-; 4+; 4; 4-; 5; 6; sehr gut; nicht bestanden"))),
    "grades, words": ("Note", drawn(split("sehr gut; gut; befriedigend; ausreichend; mangelhaft; ungenügend; nicht teilgenommen; bestanden; nicht bestanden; entschuldigt; krank; Vorpunkte"))),
    "drugs": ("drug", drawn(split("Metformin; Lisinopril; Atorvastatin; Amlodipine; Omeprazole; Levothyroxine; Simvastatin; Losartan; Gabapentin; Sertraline; Fluoxetine; Warfarin; Insulin glargine; Salbutamol; Prednisone; Allegra; Yasmin; Lyrica"))),
    "drug codes": ("atc", numbers("@##@@##")),
    "drugs with doses": ("x", crossed(["Metformin", "Aspirin", "Ramipril", "Bisoprolol", "Ibuprofen"], [5, 10, 25, 50, 100, 500], "{} {} mg tablet")),
    "product codes": ("product", numbers("SKU-####-@@")),
    "product codes, digits": ("article", numbers("020-####")),
    "serials": ("lot", numbers("@@########")),
    "ean": ("ean", numbers("40########### ".strip())),
    "postcodes": ("postcode", numbers("SW#@ #@@")),
    "zip": ("zip", numbers("#####-####")),
    "dates": ("x", numbers("2##1-0#-1#")),
    "times": ("x", numbers("1#:##")),
    "colours": ("colour", drawn(split("White; Black; Brown; Green; Gray; Blue; Red; Silver; Gold; Violet; Amber; Ruby; Scarlet; Olive; Hazel"))),
    "races": ("race", drawn(split("White; Black; Asian; American Indian; Pacific Islander; Other; Two or more; Hispanic; Unknown; Declined; Middle Eastern; Mixed"))),
    "religions": ("religion", drawn(split("Catholic; Protestant; Muslim; Jewish; Hindu; Buddhist; Sikh; Christian; Orthodox; None; Mormon; Other"))),
    "languages": ("language", drawn(split("English; German; French; Spanish; Italian; Portuguese; Dutch; Polish; Russian; Turkish; Arabic; Chinese; Romanian; Kurdish; Tamil"))),
    "education": ("education", drawn(split("Some college, no degree; Bachelor's degree; Less than 9th grade; High school graduate; Master's degree; Doctorate; Associate degree, academic program; Associate degree, vocational; 10th grade; 11th grade; Professional school degree; No schooling completed"))),
    "industries": ("industry", drawn(split("Elementary and secondary schools; General medical and surgical hospitals; Restaurants and other food services; Construction, the cleaning of buildings is included; Computer systems design and related services; Grocery and related product stores; Legal services; Real estate, renting and leasing; National security and international affairs; Truck transportation; Insurance carriers; Child day care services"))),
    "diseases": ("diagnosis", drawn(split("Type 2 diabetes mellitus without complications; Essential (primary) hypertension; Parkinson's disease; Crohn's disease of small intestine; Alzheimer's disease with late onset; Hodgkin lymphoma, unspecified; Acute upper respiratory infection; Low back pain; Major depressive disorder, single episode; Chronic kidney disease, stage 3; Unspecified asthma, uncomplicated; Fracture of neck of femur"))),
    "eponyms": ("disease", drawn(split("Parkinson; Alzheimer; Crohn; Hodgkin; Graves; Addison; Cushing; Huntington; Down; Turner; Marfan; Raynaud; Asthma; Diabetes; Stroke; Gout; Anemia; Migraine; Cancer; Epilepsy"))),
    "answers": ("q7", drawn(split("I strongly agree; I agree; I neither agree nor disagree; I disagree; I strongly disagree; I do not know; I prefer not to say; It does not apply to me"))),
    "answers, long": ("reason", drawn(split("Different county, same state; Children under 18 never married; Joint, one under 65 and one 65+; Spouse of householder; Other relative of householder; Nonrelative of householder; Householder living alone; Group quarters; In unrelated subfamily; Not in universe; Child 18 or older; Grandchild under 18"))),
    "questions": ("question", drawn(split("Do you own a car?; How often do you see your doctor?; Are you satisfied with your job?; Have you ever smoked?; How many children do you have?; Is your home rented?; Do you feel safe at night?; Did you vote?; Do you have a pet?; Has he or she been ill?; Are you married?; Do they live with you?; When were you born?"))),
    "procedures": ("procedure", drawn(split("Removal of the gallbladder; Replacement of the left hip; Repair of hernia, open; Insertion of a pacemaker; Biopsy of the breast; Colonoscopy with removal of polyps; Cataract surgery; Appendectomy; Delivery of baby by caesarean section; Coronary bypass; Tonsillectomy; Spinal fusion"))),
    "wards": ("ward", drawn(split("A1; A2; B1; B2; C3; ICU; Surgery; Maternity; Paediatrics; Emergency; Oncology; Stroke unit"))),
    "cars": ("car", drawn(split("Ford Focus; VW Golf; Renault Clio; Fiat Panda; Opel Corsa; BMW 320; Audi A4; Toyota Yaris; Skoda Octavia; Mercedes C 180; Seat Ibiza; Alfa Romeo Giulia; Renault Zoe; Dacia Sandero"))),
    "brands": ("brand", drawn(split("Adidas; Nike; Puma; Levi's; Zara; Hugo Boss; Calvin Klein; Ralph Lauren; Tommy Hilfiger; Gucci; Prada; Uniqlo; Esprit; Diesel; Lacoste; Timberland; Patagonia; Columbia"))),
    "sports": ("sport", drawn(split("Football; Tennis; Swimming; Judo; Rugby; Golf; Handball; Cycling; Rowing; Hockey; Chess; Boxing"))),
    "dishes": ("meal", drawn(split("Pizza Margherita; Caesar salad; Spaghetti carbonara; Beef Wellington; Peach Melba; Eggs Benedict; Fish and chips; Sushi; Tacos; Curry; Ramen; Bratwurst"))),
    "versions": ("version", numbers("1.#.#.#")),
    "web pages of a site": ("section", drawn(split("/home; /about; /shop; /cart; /help; /login; /news; /blog; /jobs; /press; /legal; /search"))),
    "units": ("unit", drawn(split("mg/dL; mmol/L; g/L; IU/mL; %; mmHg; bpm; kg; cm; mL/min; pg; fL"))),
    "intervals": ("age_group", drawn([f"{n}-{n + 4}" for n in range(0, 90, 5)])),
    "amounts": ("x", numbers("€1.###,##")),
    "coordinates": ("x", numbers("4#.####, 1#.####")),
    "hashes": ("bucket", drawn(["low", "mid", "high"] + [f"q{n}" for n in range(12)])),
}  # fmt: skip
